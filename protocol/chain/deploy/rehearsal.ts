/** Creates a system in an EVM of this process: what code each contract will have, its immutables filled in, and what gas
 *  that takes. No constructor of ours asks for anything that one chain has and another does not. */
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { createEVM, type EVM } from "@ethereumjs/evm";
import { createAccount, createAddressFromString } from "@ethereumjs/util";
import { type Address, type Hex, size } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { type Creation, firstMadeBy, type SystemLayout } from "./parts.ts";
import { proxyCall } from "./proxy.ts";

/** A contract as it will stand. */
export interface Rehearsed extends Creation {
  readonly code: Hex;
  /** of the transaction that creates it, by the rules of Prague and without what a rollup takes for data as gas */
  readonly gas: { readonly byProxy: bigint; readonly byAccount: bigint };
  /** what its constructor creates */
  readonly made: readonly { readonly address: Address; readonly code: Hex }[];
}

const LIMIT = 30_000_000n;

/** @throws BaseError DEPLOY_FAILED for constants that a constructor refuses */
export async function rehearse({ creations }: SystemLayout): Promise<Rehearsed[]> {
  const evm = await createEVM({ common: new Common({ chain: Mainnet, hardfork: Hardfork.Prague }) });
  const rehearsed: Rehearsed[] = [];
  for (const creation of creations) rehearsed.push(await createIn(evm, creation));
  return rehearsed;
}

/** Creates one contract at its address, whatever would create it there on a chain. */
export async function createIn(evm: EVM, creation: Creation): Promise<Rehearsed> {
  const { name, address, initCode } = creation;
  const to = createAddressFromString(address);
  const { stateManager } = evm;
  // EIP-161: a contract's own creations are counted from 1.
  await stateManager.putAccount(to, createAccount({ nonce: 1n }));
  // Creation code that is called does what it does when it creates: it returns the code.
  await stateManager.putCode(to, fromHex(initCode));
  const { execResult: run } = await evm.runCall({ to, gasLimit: LIMIT });
  await evm.journal.cleanup();
  if (run.exceptionError !== undefined) {
    throw new BaseError({
      code: "DEPLOY_FAILED",
      shortMessage: `${name} cannot be created with the arguments ${creation.args.join(", ") || "none"}: its constructor ends with ${run.exceptionError.error}.`,
      nextStep:
        "Check the constants: 1 <= T <= 626,400 seconds, so that four answer times and a day fit into a window, and prices and gas at least 1.",
      details: { name },
    });
  }
  await stateManager.putCode(to, run.returnValue);
  const codeAt = async (at: Address) => toHex(await stateManager.getCode(createAddressFromString(at)));
  const first = firstMadeBy(address);
  const made = [{ address: first, code: await codeAt(first) }].filter(({ code }) => code !== "0x");
  const code = toHex(run.returnValue);
  const created = run.executionGasUsed + CODE_BYTE * BigInt(size(code));
  return { ...creation, code, gas: gasOf(initCode, created), made };
}

/** Gas units: EIP-2028, EIP-3860, EIP-3541, and CREATE2's hash. */
const TRANSACTION = 21_000n;
const CREATION = 32_000n;
const CODE_BYTE = 200n;
const INIT_WORD = 2n;
const HASH_WORD = 6n;
/** The proxy's own instructions, without copying the creation code into its memory. */
const PROXY_INSTRUCTIONS = 81n;

function gasOf(initCode: Hex, created: bigint): Rehearsed["gas"] {
  const words = BigInt(Math.ceil(size(initCode) / 32));
  const creation = CREATION + INIT_WORD * words + created;
  const copied = 3n * words + 3n * words + (words * words) / 512n;
  const salt: Hex = `0x${"00".repeat(32)}`;
  return {
    byProxy:
      TRANSACTION +
      calldataGas(proxyCall(salt, initCode)) +
      (PROXY_INSTRUCTIONS + copied + HASH_WORD * words) +
      creation,
    byAccount: TRANSACTION + calldataGas(initCode) + creation,
  };
}

const calldataGas = (data: Hex): bigint =>
  fromHex(data).reduce((sum, byte) => sum + (byte === 0 ? 4n : 16n), 0n);
