/** What one row of a step's tensor reads of its operands, so that the step's kernel computes a row alone. */
import { lastDim, type Step } from "../program/form.ts";
import { broadcastElement } from "./broadcast.ts";
import type { RowPart, Slice } from "./opcode.ts";

type Dims = readonly number[];

/** So many rows of the operand for each of the output. */
export function rowsOf(dims: Dims, count: number): Slice {
  const size = count * lastDim(dims);
  return { dims: [count, lastDim(dims)], first: (row) => row * size, count: size };
}

/** One row of operand a; what else there is are weights. */
export const ownRow = (_: Step, dims: Dims, operand: number): RowPart =>
  operand === 0 ? rowsOf(dims, 1) : "whole";

/** Operands under broadcast. */
export function broadcastRow({ dims }: Step, own: Dims): RowPart {
  const [length, count] = [lastDim(dims), lastDim(own)];
  return { dims: [count], first: (row) => broadcastElement(dims, own, row * length), count };
}
