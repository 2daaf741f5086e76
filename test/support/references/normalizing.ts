/** References of normalizations, in binary64. */
import {
  axisOf,
  build,
  caseOf,
  clamp,
  f32,
  LIMITS,
  list,
  node,
  type Plain,
  positions,
  type Reference,
  read,
  shape,
} from "./plain.ts";
import { operand, quantized } from "./quantized.ts";

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Numbers of the elements that are in one row with a position. */
const rowOf = (x: Plain, isSame: (p: readonly number[]) => boolean): number[] =>
  [...positions(x.dims)].filter(isSame).map((p) => read(x, p));

const qLinearSoftmax: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 4), rng.chance(0.2) ? 9 : 5);
  const opset = rng.pick([12, 13]);
  const axis = rng.int(0, dims.length - 1);
  const x = operand(rng, "x", dims, { size: rng.pick([0.01, 0.1]) });
  const inRow = (p: readonly number[], at: readonly number[]): boolean =>
    p.every((v, i) => (opset < 13 ? i >= axis : i === axis) || v === at[i]);
  const real = build(dims, (at) => {
    const row = rowOf(x.real, (p) => inRow(p, at));
    const top = Math.max(...row);
    return Math.exp(read(x.real, at) - top) / sum(row.map((v) => Math.exp(v - top)));
  });
  const { type } = x.bytes;
  const byte = type as "uint8" | "int8";
  const [scale, zero] = [1 / 256, LIMITS[byte][0]];
  const softmax = {
    ...node("QLinearSoftmax", ["x", "xs", "xz", "ys", "yz"], {
      ...axisOf(rng, axis, dims.length, opset < 13 ? 1 : -1),
      opset,
    }),
    domain: "com.microsoft",
  };
  const made = caseOf({
    inputs: { x: x.bytes },
    nodes: [softmax],
    constants: {
      ...x.constants,
      ys: { type: "float32", dims: [], data: [scale] },
      yz: { type: byte, dims: [], data: [zero] },
    },
    outputs: { y: byte },
    expected: {
      y: { dims, data: real.data.map((v) => clamp(v / scale + zero, LIMITS[byte])), within: 0.5 + 2 ** -8 },
    },
  });
  const isOne = real.data.some((p) => p > 255.5 / 256);
  return isOne ? { ...made, isElsewhere: "a probability of 1 wraps to the least byte" } : made;
};

const EPSILON = f32(1e-5);
/** The attribute, left out where it is the default. */
const epsilonOf = (epsilon: number) => (epsilon === EPSILON ? {} : { epsilon: { f: epsilon } });

/** Gains, and shifts, of so many elements. */
const numbersOf = (n: number, next: () => number): number[] =>
  Array.from({ length: n }, () => f32(next() / 100));

const instanceNormalization: Reference = (rng) => {
  const dims = [rng.int(1, 3), rng.int(1, 3), ...shape(rng, rng.int(1, 3), 5).map((d) => d + 1)];
  const x = operand(rng, "x", dims, { size: rng.pick([0.02, 0.0001]) });
  const channels = dims[1] as number;
  const [gain, shift] = [
    numbersOf(channels, () => rng.int(-200, 200)),
    numbersOf(channels, () => rng.int(-100, 100)),
  ];
  const epsilon = f32(rng.pick([1e-5, 1e-3, 0.5]));
  const real = build(dims, (at) => {
    const row = rowOf(x.real, (p) => p[0] === at[0] && p[1] === at[1]);
    const mean = sum(row) / row.length;
    const variance = sum(row.map((v) => (v - mean) ** 2)) / row.length;
    const [g = 1, h = 0] = [gain[at[1] as number], shift[at[1] as number]];
    return ((read(x.real, at) - mean) / Math.sqrt(variance + epsilon)) * g + h;
  });
  const y = quantized(rng, real);
  return caseOf({
    inputs: { x: x.bytes },
    nodes: [x.node, node("InstanceNormalization", ["xr", "g", "h"], epsilonOf(epsilon), "p"), y.node],
    constants: { ...x.constants, ...y.constants, g: list("float32", gain), h: list("float32", shift) },
    outputs: { y: y.type },
    expected: { y: y.expected },
  });
};

const rmsNormalization: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 4));
  const axis = rng.int(0, dims.length - 1);
  const x = operand(rng, "x", dims, { size: rng.pick([0.02, 0.0001]) });
  const inner = dims.slice(axis);
  const gain = build(inner, () => f32(rng.int(-200, 200) / 100));
  const epsilon = f32(rng.pick([1e-5, 1e-3, 0.5]));
  const real = build(dims, (at) => {
    const row = rowOf(x.real, (p) => p.every((v, i) => i >= axis || v === at[i]));
    const root = Math.sqrt(sum(row.map((v) => v * v)) / row.length + epsilon);
    return (read(x.real, at) / root) * read(gain, at.slice(axis));
  });
  const y = quantized(rng, real);
  const attributes = { ...axisOf(rng, axis, dims.length, -1), ...epsilonOf(epsilon) };
  return caseOf({
    inputs: { x: x.bytes },
    nodes: [x.node, node("RMSNormalization", ["xr", "g"], attributes, "p"), y.node],
    constants: { ...x.constants, ...y.constants, g: { type: "float32", ...gain } },
    outputs: { y: y.type },
    expected: { y: y.expected },
    opset: 23,
  });
};

export const NORMALIZING: Readonly<Record<string, Reference>> = {
  QLinearSoftmax: qLinearSoftmax,
  InstanceNormalization: instanceNormalization,
  RMSNormalization: rmsNormalization,
};
