/** One row of a step's tensor, by the kernel of a step that has this row alone. */
import { OPCODE_FORMS } from "../../opcodes/generated/index.ts";
import type { PreparedOperand } from "../../opcodes/opcode.ts";
import { isActivationDot, lastDim, type Step, type TensorData } from "../../program/form.ts";

/** Writes row `row` of a step's tensor into `out`, the whole tensor. A row is the elements along the last axis, of a
 *  REDUCE one element.
 *  @param data of the operands a, b, c, as a Kernel takes them */
export type RowKernel = (row: number, out: TensorData, data: readonly (TensorData | undefined)[]) => void;

/** @param step of an opcode with `rowPart` */
export function rowKernel(step: Step, operands: readonly (PreparedOperand | undefined)[]): RowKernel {
  const form = OPCODE_FORMS[step.opcode];
  const length = rowLength(step);
  const parts = operands.map((operand, i) => operand && form.rowPart?.(step, operand.dims, i));
  const slices = parts.map((part) => (part === "whole" ? undefined : part));
  const one: Step = {
    ...step,
    dims: step.opcode === "reduce" ? [1] : [1, length],
    k: isActivationDot(step) ? 1 : step.k,
  };
  const kernel = form.prepare(
    one,
    operands.map((operand, i) => {
      const slice = slices[i];
      return operand && slice ? { type: operand.type, dims: slice.dims } : operand;
    }),
  );
  const dataOf = (i: number, row: number, data: TensorData | undefined): TensorData | undefined => {
    const slice = slices[i];
    if (slice === undefined) return data;
    const first = slice.first(row);
    return data?.subarray(first, first + slice.count);
  };
  return (row, out, [a, b, c]) =>
    kernel(
      out.subarray(row * length, (row + 1) * length),
      dataOf(0, row, a),
      dataOf(1, row, b),
      dataOf(2, row, c),
    );
}

/** Elements of a row. */
export const rowLength = ({ opcode, dims }: Step): number => (opcode === "reduce" ? 1 : lastDim(dims));
