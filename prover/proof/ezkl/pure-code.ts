/** A verifier is trusted by the hash of its code; so its answer may depend on its code and calldata alone. */
import { BaseError } from "../../../base/errors.ts";

/** Opcodes that read or change anything else. Calls are allowed: the generated code calls precompiles only, and what it
 *  calls is part of the code. */
const FORBIDDEN: Readonly<Record<number, string>> = {
  48: "ADDRESS",
  49: "BALANCE",
  50: "ORIGIN",
  51: "CALLER",
  58: "GASPRICE",
  59: "EXTCODESIZE",
  60: "EXTCODECOPY",
  63: "EXTCODEHASH",
  64: "BLOCKHASH",
  65: "COINBASE",
  66: "TIMESTAMP",
  67: "NUMBER",
  68: "PREVRANDAO",
  69: "GASLIMIT",
  70: "CHAINID",
  71: "SELFBALANCE",
  72: "BASEFEE",
  73: "BLOBHASH",
  74: "BLOBBASEFEE",
  84: "SLOAD",
  85: "SSTORE",
  92: "TLOAD",
  93: "TSTORE",
  240: "CREATE",
  241: "CALL",
  242: "CALLCODE",
  244: "DELEGATECALL",
  245: "CREATE2",
  255: "SELFDESTRUCT",
};
const [PUSH1, PUSH32, STATICCALL, JUMPDEST] = [0x60, 0x7f, 0xfa, 0x5b];
/** STOP, JUMP, RETURN, REVERT, INVALID: what follows runs only where a jump can land. */
const ENDS = new Set([0x00, 0x56, 0xf3, 0xfd, 0xfe]);

/** Checks that a contract only computes. Constants that the compiler puts behind the code never run.
 *  @param code runtime code without metadata
 *  @throws BaseError EZKL_VERIFIER_IMPURE naming opcode and offset */
export function assertPure(code: Uint8Array): void {
  let calls = 0;
  let runs = true;
  for (let at = 0; at < code.length; at++) {
    const opcode = code[at] as number;
    if (opcode === JUMPDEST) runs = true;
    const name = runs ? FORBIDDEN[opcode] : undefined;
    if (name !== undefined) {
      throw new BaseError({
        code: "EZKL_VERIFIER_IMPURE",
        shortMessage: `The verifier has ${name} at byte ${at}: its answer could depend on more than the proof.`,
        nextStep: "Use the ezkl version that the lock file names.",
        details: { opcode, offset: at },
      });
    }
    if (runs && opcode === STATICCALL) calls++;
    if (ENDS.has(opcode)) runs = false;
    if (opcode >= PUSH1 && opcode <= PUSH32) at += opcode - PUSH1 + 1;
  }
  if (calls > 0) return;
  throw new BaseError({
    code: "EZKL_VERIFIER_IMPURE",
    shortMessage: `The verifier of ${code.length} bytes calls no precompile, so it checks no pairing.`,
    nextStep: "Use the ezkl version that the lock file names.",
  });
}
