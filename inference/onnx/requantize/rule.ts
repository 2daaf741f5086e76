/** The rule that requantization follows (DESIGN.md and docs/EXACT.md, opcode DOT, variant 2) and its thresholds. */

/** Requantization of one channel. Zero point and clamps are stored bytes. */
export interface Rule {
  /** binary32, finite, above 0. */
  readonly scale: number;
  readonly zeroPoint: number;
  readonly lower: number;
  readonly upper: number;
}

/** Nearest integer, ties to even. */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Rounded value before the zero point is added. */
const scaled = (acc: number, scale: number): number => roundHalfEven(Math.fround(Math.fround(acc) * scale));

/** Stored byte of an accumulator. */
export function requantized(acc: number, rule: Rule): number {
  return Math.min(Math.max(scaled(acc, rule.scale) + rule.zeroPoint, rule.lower), rule.upper);
}

export interface Threshold {
  /** Rounded value that is reached. */
  readonly q: number;
  /** Least accumulator in low..high+1 that reaches it; high + 1 if none does. */
  readonly acc: number;
}

/** All thresholds of a rule over low..high, in order of q. The rule is monotone in acc, so bisection is exact. */
export function thresholds(rule: Rule, low: number, high: number): Threshold[] {
  const found: Threshold[] = [];
  let from = low;
  for (let q = rule.lower - rule.zeroPoint + 1; q <= rule.upper - rule.zeroPoint; q++) {
    let a = from;
    let b = high + 1;
    while (a < b) {
      const middle = Math.floor((a + b) / 2);
      if (scaled(middle, rule.scale) >= q) b = middle;
      else a = middle + 1;
    }
    found.push({ q, acc: a });
    from = a;
  }
  return found;
}
