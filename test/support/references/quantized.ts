/** Quantized operands of a reference, as the real numbers that they stand for, and quantized results. */
import type { TestNode, TestTensor } from "../onnx-file.ts";
import type { Rng } from "../rng.ts";
import {
  BYTES,
  type Byte,
  build,
  clamp,
  drawn,
  type Expected,
  f32,
  LIMITS,
  list,
  node,
  type Plain,
  read,
  scalar,
} from "./plain.ts";

/** A rounded result is at most a half from the real one, and what binary32 takes or adds. */
const HALF = 0.5 + 2 ** -8;

/** Bytes q under a name, and DequantizeLinear of them as that name with an r. */
export interface Operand {
  readonly bytes: TestTensor;
  readonly real: Plain;
  readonly node: TestNode;
  /** scale and zero point */
  readonly constants: Readonly<Record<string, TestTensor>>;
  readonly scales: readonly number[];
}

export interface OperandOptions {
  readonly type?: Byte;
  /** An axis that has a scale, and a zero point, for each index. */
  readonly axis?: number;
  readonly size?: number;
}

export const scaleNear = (rng: Rng, size: number): number =>
  f32(size * (0.6 + rng.int(0, 2 ** 20) / 2 ** 20));

export function operand(
  rng: Rng,
  name: string,
  dims: readonly number[],
  { type = rng.pick(BYTES), axis, size = 0.02 }: OperandOptions = {},
): Operand {
  const bytes = drawn(rng, type, dims);
  const channels = axis === undefined ? 1 : (dims[axis] as number);
  const middle = type === "uint8" ? 128 : 0;
  const scales = Array.from({ length: channels }, () => scaleNear(rng, size));
  const zeros = Array.from({ length: channels }, () => middle + rng.int(-60, 60));
  const real = build(dims, (at) => {
    const channel = axis === undefined ? 0 : (at[axis] as number);
    return (scales[channel] as number) * (read(bytes, at) - (zeros[channel] as number));
  });
  const [s, z] = [`${name}s`, `${name}z`];
  const constants =
    axis === undefined
      ? { [s]: scalar("float32", scales[0] as number), [z]: scalar(type, zeros[0] as number) }
      : { [s]: list("float32", scales), [z]: list(type, zeros) };
  const attributes = axis === undefined ? {} : { axis };
  return {
    bytes,
    real,
    node: node("DequantizeLinear", [name, s, z], attributes, `${name}r`),
    constants,
    scales,
  };
}

/** int32 bias b of a product, as br: its scale is that of the product. */
export function biasOf(
  rng: Rng,
  channels: number,
  x: Operand,
  w: Operand,
): Omit<Operand, "bytes"> & { bytes: TestTensor } {
  const scales = w.scales.map((s) => f32((x.scales[0] as number) * s));
  const bytes = list(
    "int32",
    Array.from({ length: channels }, () => rng.int(-3000, 3000)),
  );
  const scaleOf = (i: number): number => scales[scales.length === 1 ? 0 : i] as number;
  const single = scales.length === 1;
  return {
    bytes,
    real: build([channels], ([i = 0]) => scaleOf(i) * (bytes.data[i] as number)),
    node: node("DequantizeLinear", ["b", "bs"], single ? {} : { axis: 0 }, "br"),
    constants: { bs: single ? scalar("float32", scales[0] as number) : list("float32", scales) },
    scales,
  };
}

export interface Quantized {
  readonly node: TestNode;
  readonly type: Byte;
  readonly constants: Readonly<Record<string, TestTensor>>;
  readonly expected: Expected;
}

/** QuantizeLinear of p to y, by a scale that leaves most results inside of their type. */
export function quantized(rng: Rng, real: Plain, type: Byte = rng.pick(BYTES)): Quantized {
  const largest = Math.max(...real.data.map(Math.abs));
  const scale = largest === 0 ? 1 : Math.max(f32(largest / rng.int(70, 150)), 2 ** -30);
  const zero = (type === "uint8" ? 128 : 0) + rng.int(-30, 30);
  const data = real.data.map((v) => clamp(v / scale + zero, LIMITS[type]));
  return {
    node: node("QuantizeLinear", ["p", "ys", "yz"]),
    type,
    constants: { ys: scalar("float32", scale), yz: scalar(type, zero) },
    expected: { dims: real.dims, data, within: HALF },
  };
}
