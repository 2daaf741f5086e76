/** Functions of one number that exist as tables of a byte: computed in binary64 at import, then rounded to binary32. */

import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { floatAttribute, stringAttribute } from "./lowering.ts";

type RealFunction = (x: number) => number;

export const sigmoid: RealFunction = (x) => 1 / (1 + Math.exp(-x));
const softplus: RealFunction = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
/** `(1 + erf(x/√2)) / 2`, with all digits where it is nearly 0. */
export const cdf: RealFunction = (x) => 0.5 * erfc(-x * Math.SQRT1_2);
const gelu: RealFunction = (x) => x * cdf(x);
/** `(1 + tanh u) / 2`, likewise: `sigmoid(2u)`. */
export const tanhCdf: RealFunction = (x) => sigmoid(2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3));
const geluTanh: RealFunction = (x) => x * tanhCdf(x);
const clamp01: RealFunction = (x) => Math.min(Math.max(x, 0), 1);

export const leakyRelu =
  (alpha: number): RealFunction =>
  (x) =>
    x >= 0 ? x : x * alpha;

/** The error function to some 1e-15: its power series near 0, the complement beyond 3. */
export function erf(x: number): number {
  if (Math.abs(x) >= 3) return Math.sign(x) * (1 - erfc(Math.abs(x)));
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** `1 − erf(x)`, to some 1e-8 of its size: beyond 3 by its continued fraction. */
function erfc(x: number): number {
  if (x < 3) return 1 - erf(x);
  let fraction = 0;
  for (let n = 60; n >= 1; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + fraction));
}

function geluOf(node: OnnxNode): RealFunction {
  const form = stringAttribute(node, "approximate", "none");
  if (form === "none") return gelu;
  return form === "tanh" ? geluTanh : refuse(`its approximate is ${form}`, "Use none or tanh.");
}

/** By operator. Attributes that are absent have the standard's default. */
export const FUNCTIONS: Readonly<Record<string, (node: OnnxNode) => RealFunction>> = {
  Acos: () => Math.acos,
  Acosh: () => Math.acosh,
  Asin: () => Math.asin,
  Asinh: () => Math.asinh,
  Atan: () => Math.atan,
  Atanh: () => Math.atanh,
  Celu: (node) => {
    const alpha = floatAttribute(node, "alpha", 1);
    return (x) => Math.max(x, 0) + Math.min(0, alpha * Math.expm1(x / alpha));
  },
  Cos: () => Math.cos,
  Cosh: () => Math.cosh,
  Elu: (node) => {
    const alpha = floatAttribute(node, "alpha", 1);
    return (x) => (x >= 0 ? x : alpha * Math.expm1(x));
  },
  Erf: () => erf,
  Exp: () => Math.exp,
  FastGelu: (node) => {
    if ((node.inputs[1] ?? "") !== "") refuse("it adds a bias", "Add the bias in a node before it.");
    return geluTanh;
  },
  Gelu: geluOf,
  HardSigmoid: (node) => {
    const [alpha, beta] = [floatAttribute(node, "alpha", 0.2), floatAttribute(node, "beta", 0.5)];
    return (x) => clamp01(alpha * x + beta);
  },
  HardSwish: () => (x) => x * clamp01(x / 6 + 0.5),
  LeakyRelu: (node) => leakyRelu(floatAttribute(node, "alpha", 0.01)),
  Log: () => Math.log,
  Mish: () => (x) => x * Math.tanh(softplus(x)),
  QuickGelu: (node) => {
    const alpha = floatAttribute(node, "alpha", 1.702);
    return (x) => x * sigmoid(alpha * x);
  },
  Selu: (node) => {
    const alpha = floatAttribute(node, "alpha", 1.6732631921768188);
    const gamma = floatAttribute(node, "gamma", 1.0507010221481323);
    return (x) => gamma * (x > 0 ? x : alpha * Math.expm1(x));
  },
  Shrink: (node) => {
    const [bias, lambd] = [floatAttribute(node, "bias", 0), floatAttribute(node, "lambd", 0.5)];
    return (x) => (x < -lambd ? x + bias : x > lambd ? x - bias : 0);
  },
  Sigmoid: () => sigmoid,
  Sin: () => Math.sin,
  Sinh: () => Math.sinh,
  Softplus: () => softplus,
  Softsign: () => (x) => x / (1 + Math.abs(x)),
  Tan: () => Math.tan,
  Tanh: () => Math.tanh,
  ThresholdedRelu: (node) => {
    const alpha = floatAttribute(node, "alpha", 1);
    return (x) => (x > alpha ? x : 0);
  },
};
