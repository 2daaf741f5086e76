/** Functions of one number in binary64, each in a form that keeps its digits where it is nearly 0; shares no code with
 *  inference/onnx/lower/functions.ts. */

/** ∫₀^∞ exp(−u² − 2·x·u) du by Simpson's rule, for x ≥ 0. */
function scaledTail(x: number): number {
  const steps = 8000;
  const end = Math.min(8, 40 / (2 * x + 1e-9));
  const h = end / steps;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const u = i * h;
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp(-u * u - 2 * x * u);
  }
  return (sum * h) / 3;
}

/** `1 − erf(x)` */
export const erfc = (x: number): number =>
  x >= 0 ? (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * scaledTail(x) : 2 - erfc(-x);

export function erf(x: number): number {
  if (Math.abs(x) > 0.5) return Math.sign(x) * (1 - erfc(Math.abs(x)));
  let sum = 0;
  let term = x;
  for (let n = 0; n < 40; n++) {
    sum += term / (2 * n + 1);
    term *= -(x * x) / (n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** `1 / (1 + exp(−x))` */
export const sigmoid = (x: number): number =>
  x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));

export const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** `x·Φ(x)` */
export const gelu = (x: number): number => 0.5 * x * erfc(-x / Math.SQRT2);

/** `x/2·(1 + tanh u)` is `x·sigmoid(2u)`. */
export const tanhGelu = (x: number): number =>
  x * sigmoid(2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x));

/** `x·tanh(softplus x)`, where `tanh(ln y) = (y² − 1)/(y² + 1)`. */
export const mish = (x: number): number => {
  const e = Math.exp(x);
  return x > 20 ? x : (x * (e * e + 2 * e)) / (e * e + 2 * e + 2);
};
