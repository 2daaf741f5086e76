import { elementCount, type Operand, type TensorType } from "../program/form.ts";
import { locate } from "../program/shape.ts";
import type { OperandSource, Read } from "./opcode.ts";

/** Element of an operand at one index of the output. Source: docs/EXACT.md, section 2, broadcast. */
export function broadcastElement(
  outDims: readonly number[],
  dims: readonly number[],
  element: number,
): number {
  let rest = element;
  let index = 0;
  let stride = 1;
  for (let axis = outDims.length - 1, own = dims.length - 1; own >= 0; axis--, own--) {
    const outDim = outDims[axis] as number;
    const dim = dims[own] as number;
    if (dim !== 1) index += (rest % outDim) * stride;
    rest = Math.floor(rest / outDim);
    stride *= dim;
  }
  return index;
}

/** Operand element for every output element; undefined where that is the identity. */
export function broadcastMap(outDims: readonly number[], dims: readonly number[]): Int32Array | undefined {
  const count = elementCount(outDims);
  if (elementCount(dims) === count) return undefined;
  const map = new Int32Array(count);
  // Grows the map from the last axis outwards: each axis repeats what is inside it, moved by its own stride.
  let filled = 1;
  let stride = 1;
  for (let axis = outDims.length - 1, own = dims.length - 1; axis >= 0; axis--, own--) {
    const outDim = outDims[axis] as number;
    const dim = own >= 0 ? (dims[own] as number) : 1;
    for (let i = 1; i < outDim; i++) {
      const shift = dim === 1 ? 0 : i * stride;
      for (let j = 0; j < filled; j++) map[i * filled + j] = (map[j] as number) + shift;
    }
    filled *= outDim;
    stride *= dim;
  }
  return map;
}

/** The word of a plain tensor that holds the element at one index of the output. */
export function readBroadcast(
  outDims: readonly number[],
  operand: Operand,
  element: number,
  source: OperandSource,
): Read {
  const { type, dims } = source.shape(operand);
  return readWord(operand, type, dims, broadcastElement(outDims, dims, element));
}

/** The word of a plain tensor that holds one of its elements. */
export function readWord(operand: Operand, type: TensorType, dims: readonly number[], element: number): Read {
  const { row, word } = locate(type, dims, element);
  return { operand, row, word };
}
