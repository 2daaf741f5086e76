import type { StepCheck } from "../program/check.ts";
import {
  lastDim,
  type Operand,
  type Step,
  type TensorData,
  type TensorType,
  type WeightDescriptor,
} from "../program/form.ts";

/** What a kernel is built from: an operand's shape, and its content where it is constant. */
export interface PreparedOperand {
  readonly type: TensorType;
  readonly dims: readonly number[];
  /** Content of a PLAIN weight tensor. */
  readonly constant?: TensorData;
  /** Words of a DOT, LOOKUP or CHANNEL weight tensor, as `Model.weights` holds them. */
  readonly words?: Uint8Array;
}

/** Computes elements of a step's tensor, `from` to before `to`, without both all of them. They are whole rows, see
 *  `rowLength`; of `out` and the operands it takes whole tensors. Operands without data (weights in words, absent ones)
 *  are undefined. Total: every content of the operands has a result. */
export type Kernel = (
  out: TensorData,
  a: TensorData | undefined,
  b: TensorData | undefined,
  c: TensorData | undefined,
  from?: number,
  to?: number,
) => void;

/** Elements that a kernel computes no fewer of: those along the last axis, where they are not computed one by one. */
export const rowLength = ({ opcode, dims }: Pick<Step, "opcode" | "dims">): number =>
  opcode === "reduce" || opcode === "move" ? 1 : lastDim(dims);

/** Words that one element is computed from: one word of a row, or, without `word`, the row's real words. */
export interface Read {
  readonly operand: Operand;
  readonly row: number;
  readonly word?: number;
}

/** What `reads` may ask about a step's operands. */
export interface OperandSource {
  shape(operand: Operand): { readonly type: TensorType; readonly dims: readonly number[] };
  weights(operand: Operand): WeightDescriptor;
  /** Content of operands but b; only LOOKUP and TABLE ask, because values say which words of the table are read. */
  data(operand: Operand): TensorData;
}

/** One opcode off chain; the one on chain is the file of the same name in verifier-contracts/opcodes/. */
export interface OpcodeForm {
  /** Structure rules beyond those that hold for every record. Source: docs/EXACT.md, section 3. */
  rules(check: StepCheck): void;
  /** Builds the kernel of one step of a valid program. Operands in the order a, b, c. */
  prepare(step: Step, operands: readonly (PreparedOperand | undefined)[]): Kernel;
  /** What a judge of one element opens after the output's word, in order. Source: docs/PROTOCOL.md, section 4. */
  reads(step: Step, element: number, source: OperandSource): Read[];
}
