import type { Opcode } from "../inference/program/codes.ts";

/** Folders of contracts that faults are put into. */
export const ROWS = "verifier-contracts/opcodes/rows";
export const OPCODES = "verifier-contracts/opcodes";
export const PLAN = "verifier-contracts/execution/plan";
export const COMPILED = "verifier-contracts/execution/compiled";
export const LIBRARIES = "verifier-contracts/libraries";

/** A fault that is put into a copy of the contracts. */
export interface Mutant {
  readonly name: string;
  /** the test that must fail */
  readonly caughtBy: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

/** A fault of code that the records of one opcode alone reach. */
export const fault = (
  opcode: Exclude<Opcode, "codec">,
  name: string,
  file: string,
  from: string,
  to: string,
): Mutant => ({
  name: `${opcode}: ${name}`,
  caughtBy: `test_records_${opcode}_succeeds`,
  edits: [{ file, from, to }],
});
