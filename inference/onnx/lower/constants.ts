/** Constants: how the program stores them, and the operators that are computed at import. */

import type { TensorData, TensorType } from "../../program/form.ts";
import { type Budget, MADE } from "../budget.ts";
import { count, type OnnxData, type OnnxTensor, type OnnxType } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { MAX_ELEMENTS, MAX_ONNX_RANK } from "../tensor.ts";
import { TENSOR_TYPE } from "./values.ts";

/** Data of a PLAIN weight tensor; int64 must fit s32, floats must be finite and normal or zero. */
export function storedConstant(tensor: OnnxTensor): { type: TensorType; data: TensorData } {
  const type = TENSOR_TYPE[tensor.type];
  const { data } = tensor;
  if (data instanceof BigInt64Array) {
    for (const v of data) {
      if (v < -(2n ** 31n) || v >= 2n ** 31n)
        refuse(`a constant holds ${v}, outside s32`, "Use smaller constants.");
    }
    return { type, data: Int32Array.from(data, Number) };
  }
  if (data instanceof Int8Array) return { type, data: Uint8Array.from(data, (v) => v + 128) };
  if (data instanceof Float32Array) {
    for (const v of data) {
      if (!Number.isFinite(v)) refuse(`a constant holds ${v}`, "Use finite constants.");
      if (v !== 0 && Math.abs(v) < 2 ** -126)
        refuse(`a constant holds the subnormal number ${v}`, "Round it to 0.");
    }
    return { type, data };
  }
  if (data instanceof Int16Array || data instanceof Uint16Array) return { type, data: Int32Array.from(data) };
  return { type, data };
}

export function makeTensor(
  type: OnnxType,
  dims: readonly number[],
  values: ArrayLike<number | bigint>,
): OnnxTensor {
  return { type, dims, data: makeData(type, values) };
}

function makeData(type: OnnxType, values: ArrayLike<number | bigint>): OnnxData {
  const list = Array.from(values);
  switch (type) {
    case "float32":
      return Float32Array.from(list, Number);
    case "int64":
      return BigInt64Array.from(list, BigInt);
    case "int32":
      return Int32Array.from(list, Number);
    case "int8":
      return Int8Array.from(list, Number);
    case "uint8":
      return Uint8Array.from(list, Number);
    case "int16":
      return Int16Array.from(list, Number);
    case "uint16":
      return Uint16Array.from(list, Number);
    case "bool":
      return Uint8Array.from(list, (v) => (Number(v) === 0 ? 0 : 1));
  }
}

/** To be called before a constant of these dims is made. @throws Refusal, BaseError IMPORT_TOO_LARGE */
export function checkMade(budget: Budget, dims: readonly number[]): void {
  const elements = count(dims);
  if (dims.some((d) => d < 1) || !(elements <= MAX_ELEMENTS) || dims.length > MAX_ONNX_RANK) {
    const limits = `1 to ${MAX_ELEMENTS} elements and rank up to ${MAX_ONNX_RANK}`;
    refuse(`its shape is [${dims}]`, `Use shapes of ${limits}.`);
  }
  budget.spend(MADE * elements);
}

/** Elements of a constant by source index, `fill` where the index is below 0. */
export function pickConstant(
  tensor: OnnxTensor,
  dims: readonly number[],
  sources: ArrayLike<number>,
  fill: number | bigint,
): OnnxTensor {
  const zero = tensor.data instanceof BigInt64Array ? BigInt(fill) : Number(fill);
  const values = Array.from(sources as ArrayLike<number>, (i) =>
    i < 0 ? zero : (tensor.data[i] as number | bigint),
  );
  return makeTensor(tensor.type, dims, values);
}

/** The constant transposed to `order`. */
export function movedConstant(tensor: OnnxTensor, order: readonly number[]): OnnxTensor {
  const rank = order.length;
  const padded = [...new Array<number>(rank - tensor.dims.length).fill(1), ...tensor.dims];
  const strides = new Array<number>(rank).fill(1);
  for (let axis = rank - 2; axis >= 0; axis--) {
    strides[axis] = (strides[axis + 1] as number) * (padded[axis + 1] as number);
  }
  const dims = order.map((axis) => padded[axis] as number);
  const sources = new Int32Array(count(dims));
  const at = new Array<number>(rank).fill(0);
  for (let i = 0; i < sources.length; i++) {
    sources[i] = order.reduce((sum, axis, k) => sum + (at[k] as number) * (strides[axis] as number), 0);
    for (let k = rank - 1; k >= 0; k--) {
      at[k] = (at[k] as number) + 1;
      if ((at[k] as number) < (dims[k] as number)) break;
      at[k] = 0;
    }
  }
  return pickConstant(tensor, dims, sources, 0);
}

/** Cast of a constant as ONNX defines it for values that fit the target. */
export function castConstant(tensor: OnnxTensor, type: OnnxType): OnnxTensor {
  const values = Array.from(tensor.data as ArrayLike<number | bigint>, (v) => {
    if (type === "float32" || type === "bool" || typeof v === "bigint") return v;
    return Math.trunc(v);
  });
  const result = makeTensor(type, tensor.dims, values);
  const same = values.every(
    (v, i) => type === "float32" || type === "bool" || BigInt(v) === BigInt(result.data[i] ?? 0),
  );
  if (!same) refuse(`a constant does not fit ${type}`, "Use constants inside the type's range.");
  return result;
}
