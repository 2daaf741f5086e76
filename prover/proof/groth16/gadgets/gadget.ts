import type { Step, TensorType, WeightDescriptor } from "../../../../inference/program/form.ts";
import type { Circuit } from "../circuit.ts";
import type { Int } from "../integer.ts";

/** A tensor inside a circuit, row-major. Elements are numbers: s8 as −128..127, bool as 0 or 1. */
export interface CircuitTensor {
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly elements: readonly Int[];
}

/** What the gadget of one step sees. */
export interface GadgetContext {
  readonly circuit: Circuit;
  readonly step: Step;
  /** An earlier step, or a PLAIN weight tensor as constants. */
  operand(name: "a" | "b" | "c"): CircuitTensor;
  weight(name: "a" | "b" | "c"): { readonly descriptor: WeightDescriptor; readonly bytes: Uint8Array };
  /** What import proves of output element i. */
  bounds(i: number): readonly [low: bigint, high: bigint];
  /** Refuses the step: the program has no circuit. */
  refuse(reason: string, nextStep: string): never;
}

/** One opcode inside a circuit: the elements of the step's tensor from those of its operands. Bounds that import
 *  proves hold for every element, so nothing wraps. The same in inference/opcodes/ off a circuit. */
export type Gadget = (context: GadgetContext) => Int[];

/** Elements of a broadcast operand in the order of the output. */
export function broadcast(
  { dims, elements }: CircuitTensor,
  map: (out: readonly number[], dims: readonly number[]) => Int32Array | undefined,
  out: readonly number[],
): (i: number) => Int {
  const index = map(out, dims);
  return (i) => elements[index === undefined ? i : (index[i] as number)] as Int;
}
