/** Smooth functions of one float32 number: cubics over cells of one width, their coefficients from a table. */

import { elementCount, type Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import { cdf, erf, sigmoid, tanhCdf } from "./functions.ts";
import type { Lowering } from "./lowering.ts";

export interface TabulatedFunction {
  readonly name: string;
  readonly f: (x: number) => number;
  /** Outside of these, multiples of a cell, the function is taken to be what it is there. */
  readonly low: number;
  readonly high: number;
  /** A cell is 2^-cellBits wide. */
  readonly cellBits: number;
  /** All results lie in here. */
  readonly least: number;
  readonly most: number;
}

export const ERF: TabulatedFunction = {
  name: "erf",
  f: erf,
  low: -4.5,
  high: 4.5,
  cellBits: 5,
  least: -1,
  most: 1,
};
export const TANH: TabulatedFunction = {
  name: "tanh",
  f: Math.tanh,
  low: -11,
  high: 11,
  cellBits: 4,
  least: -1,
  most: 1,
};
export const SIGMOID: TabulatedFunction = {
  name: "sigmoid",
  f: sigmoid,
  low: -22,
  high: 22,
  cellBits: 3,
  least: 0,
  most: 1,
};
/** Φ(x), of which Gelu is x-fold. */
export const NORMAL: TabulatedFunction = {
  name: "normal",
  f: cdf,
  low: -6.5,
  high: 6.5,
  cellBits: 5,
  least: 0,
  most: 1,
};
/** What Gelu's tanh form has in its place. */
export const TANH_NORMAL: TabulatedFunction = {
  name: "tanh normal",
  f: tanhCdf,
  low: -6.5,
  high: 6.5,
  cellBits: 5,
  least: 0,
  most: 1,
};
/** e^x of −1/2 ≤ x ≤ 1/2. */
export const EXPONENTIAL: TabulatedFunction = {
  name: "exp",
  f: Math.exp,
  low: -0.5,
  high: 0.5,
  cellBits: 5,
  least: Math.fround(Math.exp(-0.5)),
  most: Math.fround(Math.exp(0.5)),
};
/** log x of 1 ≤ x ≤ 2. */
export const LOGARITHM: TabulatedFunction = {
  name: "log",
  f: Math.log,
  low: 1,
  high: 2,
  cellBits: 5,
  least: 0,
  most: Math.fround(Math.log(2)),
};

/** Fraction bits of coefficients and results, and of the place inside a cell. */
const BITS = 30;
const TERMS = 4;

/** f(x) within 2^-22. The cubic `((k3·r + k2)·r + k1)·r + k0` of the cell whose centre is nearest; r is the distance from it
 *  in cells, a multiple of 2^-30, and each k a multiple of 2^-30 rounded to binary32. @param x f32 */
export function tabulated(ctx: Lowering, x: Operand, fn: TabulatedFunction): Operand {
  const { builder } = ctx;
  const { dims } = builder.shape(x);
  const elements = elementCount(dims);
  const inside = builder.float(
    "min",
    "f32",
    builder.float("max", "f32", x, builder.f32(fn.low)),
    builder.f32(fn.high),
  );
  const fine = builder.float("mul", "f32", inside, builder.f32(2 ** (BITS + fn.cellBits)));
  const at = builder.float("mul", "f32", builder.float("round", "f32", fine), builder.f32(2 ** -BITS));
  const near = builder.float("round", "f32", at);
  const rest = builder.float("sub", "f32", at, near);
  const first = fn.low * 2 ** fn.cellBits;
  const cell = builder.float("toint", "s32", builder.float("sub", "f32", near, builder.f32(first)));
  const picked = builder.lookup("pick", ctx.reshape(cell, [elements, 1]), coefficients(ctx, fn), [elements]);
  const term = (column: number): Operand => {
    const each = dims.map((dim, axis) => ({ dim, terms: [{ axis, factor: 1 }], offset: 0, checked: false }));
    const one = { dim: TERMS, terms: [], offset: column, checked: false };
    return builder.move(picked, dims, coordinates([...each, one], dims));
  };
  let y = term(TERMS - 1);
  for (let power = TERMS - 2; power >= 0; power--) {
    y = builder.float("add", "f32", builder.float("mul", "f32", y, rest), term(power));
  }
  const whole = builder.float("round", "f32", y);
  const unit = 2 ** BITS;
  const above = builder.float("max", "f32", whole, builder.f32(fn.least * unit));
  const bound = builder.float("min", "f32", above, builder.f32(fn.most * unit));
  return builder.float("mul", "f32", bound, builder.f32(1 / unit));
}

/** PLAIN [cells, 4]: the cubics through f at the four Chebyshev points of each cell, in units of 2^-30. */
function coefficients(ctx: Lowering, { name, f, low, high, cellBits }: TabulatedFunction): Operand {
  return ctx.once(`coefficients of ${name}`, () => {
    const cells = (high - low) * 2 ** cellBits + 1;
    const table = Array.from({ length: cells }, (_, i) => cubic((r) => f(low + (i + r) / 2 ** cellBits)));
    const data = Float32Array.from(table.flat(), (k) => Math.round(k * 2 ** BITS));
    return ctx.builder.plain("f32", [cells, TERMS], data);
  });
}

/** k0 to k3 of the cubic that meets g at the Chebyshev points of −1/2 to 1/2. */
function cubic(g: (r: number) => number): number[] {
  const [a, b] = [Math.cos(Math.PI / 8) / 2, Math.cos((3 * Math.PI) / 8) / 2] as const;
  const even = (r: number): number => (g(r) + g(-r)) / 2;
  const odd = (r: number): number => (g(r) - g(-r)) / (2 * r);
  const parts = (h: (r: number) => number): [number, number] => {
    const slope = (h(a) - h(b)) / (a * a - b * b);
    return [h(a) - slope * a * a, slope];
  };
  const [k0, k2] = parts(even);
  const [k1, k3] = parts(odd);
  return [k0, k1, k2, k3];
}
