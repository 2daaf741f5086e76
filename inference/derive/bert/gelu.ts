/** GELU, x times the share of a normal distribution below x. */

/** Terms of the series below; the others together add less than 2^-60 where it is taken. */
const TERMS = 128;
/** From here on the share above x is less than 2^-39. */
const FAR = 7;

/** In binary64. Source: the series `Φ(x) = 1/2 + φ(x)·(x + x³/3 + x⁵/(3·5) + …)`, all of whose terms have one sign. */
export function gelu(x: number): number {
  if (x >= FAR) return x;
  if (x <= -FAR) return 0;
  let [term, sum] = [x, 0];
  for (let n = 1; n <= TERMS; n++) {
    sum += term;
    term *= (x * x) / (2 * n + 1);
  }
  return x * (0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI));
}
