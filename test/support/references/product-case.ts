/** Operands, a product of them, and its result quantized. */
import type { TestNode, TestTensor } from "../onnx-file.ts";
import type { Rng } from "../rng.ts";
import { caseOf, type Plain } from "./plain.ts";
import { type Operand, quantized } from "./quantized.ts";

/** x and other operands, a node from them to p, and p quantized. @param made inputs of the node are xr, wr, … */
export function productCase(
  rng: Rng,
  real: Plain,
  made: TestNode,
  inputs: Readonly<Record<string, Pick<Operand, "bytes" | "node" | "constants">>>,
  weights: Readonly<Record<string, Pick<Operand, "bytes" | "node" | "constants">>>,
  extra: Readonly<Record<string, TestTensor>> = {},
) {
  const y = quantized(rng, real);
  const all = Object.values({ ...inputs, ...weights });
  const bytes = (named: typeof inputs): Record<string, TestTensor> =>
    Object.fromEntries(Object.entries(named).map(([name, { bytes: q }]) => [name, q]));
  return caseOf({
    inputs: bytes(inputs),
    nodes: [...all.map((one) => one.node), made, y.node],
    constants: Object.assign(
      {},
      bytes(weights),
      y.constants,
      extra,
      ...all.map(({ constants }) => constants),
    ),
    outputs: { y: y.type },
    expected: { y: y.expected },
  });
}
