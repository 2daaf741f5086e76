import { elementCount, type Operand, type TensorData, type TensorType } from "../program/form.ts";
import { locate } from "../program/shape.ts";
import type { OperandSource, PreparedOperand, Read } from "./opcode.ts";

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

/** Reads an operand's data as an array of the output's size. */
export type Reader<T extends TensorData> = (data: TensorData | undefined) => T;

/** Numbers of an integer operand under broadcast. A constant is expanded once. */
export function integerReader(outDims: readonly number[], operand: PreparedOperand): Reader<Int32Array> {
  const map = broadcastMap(outDims, operand.dims);
  if (operand.type === "s32" && map === undefined) return (data) => data as Int32Array;
  const count = elementCount(outDims);
  const numbers = new Int32Array(count);
  const offset = operand.type === "s8" ? 128 : 0;
  const fill = (data: Uint8Array | Int32Array): Int32Array => {
    if (map === undefined) for (let i = 0; i < count; i++) numbers[i] = (data[i] as number) - offset;
    else for (let i = 0; i < count; i++) numbers[i] = (data[map[i] as number] as number) - offset;
    return numbers;
  };
  return once(operand, fill as (data: TensorData) => Int32Array);
}

/** Numbers of a binary32 operand under broadcast. */
export function floatReader(outDims: readonly number[], operand: PreparedOperand): Reader<Float32Array> {
  const map = broadcastMap(outDims, operand.dims);
  if (map === undefined) return (data) => data as Float32Array;
  const count = map.length;
  const numbers = new Float32Array(count);
  return once(operand, (data) => {
    for (let i = 0; i < count; i++) numbers[i] = data[map[i] as number] as number;
    return numbers;
  });
}

function once<T extends TensorData>(operand: PreparedOperand, fill: (data: TensorData) => T): Reader<T> {
  if (operand.constant === undefined) return (data) => fill(data as TensorData);
  const expanded = fill(operand.constant);
  return () => expanded;
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
