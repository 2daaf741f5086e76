/** Which circuits have one output for each input.
 *
 *  ezkl divides by letting the prover name the quotient q and asking for |x − q·d| < d alone (`div` in its
 *  src/circuit/ops/layouts.rs), so that every x which is no multiple of d has two: a prover may choose one of many
 *  outputs, and two proofs of one input that contradict each other halt the lane PROOF for the model. Its other functions
 *  that take a number from the prover (reciprocals, square roots, softmax, sorting) would each need an argument of their
 *  own. So only those operations are taken whose result their constraints determine: sums and products,
 *  moves of elements, and what asks for the sign of a number. The sign of 0 alone is free there, and multiplies 0. */
import { BaseError } from "../../../base/errors.ts";

/** By their names in ezkl's table. */
const DETERMINED: ReadonlySet<string> = new Set([
  ...["Input", "CONST", "EINSUM", "CONV", "DECONV", "ADD", "SUB", "MULT", "NEG", "SUM", "PROD", "POW"],
  ...["IDENTITY", "RESHAPE", "FLATTEN", "MOVEAXIS", "PAD", "CONCAT", "SLICE", "MULTIBROADCASTTO"],
  ...["DOWNSAMPLE", "TRILU", "LEAKYRELU", "ABS"],
]);
/** Operands that are multiplied by a power of two before the operation in the bracket. */
const SCALED = /^RESCALED INPUT \((.*)\)$/;
const SHOWN = 3;

/** Operations of ezkl's table, in order. @throws BaseError EZKL_FAILED where it is no table of ezkl 23 */
export function operationsOf(table: string): string[] {
  const rows = table.split("\n").filter((line) => line.startsWith("│"));
  const [head, ...body] = rows.map((line) => line.split("│").map((cell) => cell.trim()));
  const column = head?.indexOf("opkind") ?? -1;
  if (column === -1 || body.length === 0) {
    throw new BaseError({
      code: "EZKL_FAILED",
      shortMessage: "ezkl's table of a circuit's operations cannot be read.",
      nextStep: "Install the version that this program uses: `assay proof ezkl install`.",
      details: { table },
    });
  }
  return body.map((cells) => cells[column] ?? "");
}

/** @throws BaseError EZKL_OUTPUT_NOT_UNIQUE for operations that leave a prover a choice */
export function assertUniqueOutput(table: string): void {
  const free = operationsOf(table).filter((operation) => !isDetermined(operation));
  if (free.length === 0) return;
  const shown =
    free.slice(0, SHOWN).join("; ") + (free.length > SHOWN ? ` and ${free.length - SHOWN} more` : "");
  throw new BaseError({
    code: "EZKL_OUTPUT_NOT_UNIQUE",
    shortMessage: `ezkl's circuit has ${free.length} operations that leave the prover a choice of outputs: ${shown}.`,
    nextStep: free.some((operation) => operation.startsWith("REBASED"))
      ? "Add the model again without --settings, so that no number is rounded; divide by constants in the weights."
      : "Use sums, products, convolutions and Relu alone, or import the model as an int8 program.",
    details: { operations: free },
  });
}

function isDetermined(operation: string): boolean {
  const scaled = SCALED.exec(operation);
  if (scaled !== null) return isDetermined(scaled[1] ?? "");
  return DETERMINED.has(/^\w*/.exec(operation)?.[0] ?? "");
}
