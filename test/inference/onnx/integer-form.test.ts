import { describe, expect, it } from "vitest";

import { findIntegerForm, integerRequantized } from "../../../inference/onnx/requantize/integer-form.ts";
import { type Rule, requantized, roundHalfEven } from "../../../inference/onnx/requantize/rule.ts";

/** The next binary32 number above x > 0. */
function up(x: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, x);
  view.setUint32(0, view.getUint32(0) + 1);
  return view.getFloat32(0);
}

function countWrong(rule: Rule, low: number, high: number): number {
  const form = findIntegerForm(rule, low, high);
  if (form === undefined) return -1;
  let wrong = 0;
  for (let acc = low; acc <= high; acc++)
    if (integerRequantized(acc, form, rule) !== requantized(acc, rule)) wrong++;
  return wrong;
}

const rule = (scale: number, zeroPoint = 0, lower = 0, upper = 255): Rule => ({
  scale,
  zeroPoint,
  lower,
  upper,
});

describe("roundHalfEven", () => {
  it("default", () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 2.51].map(roundHalfEven)).toEqual([0, 2, 2, 0, -2, 0, 3]);
  });
});

describe("findIntegerForm", () => {
  it("default: one unit above a power of two is a plain shift", () => {
    for (const bits of [1, 5, 9, 12, 16]) {
      expect(findIntegerForm(rule(up(2 ** -bits)), -100_000, 100_000)).toEqual({
        m: 1,
        b: 2n ** BigInt(bits - 1),
        s: bits,
      });
    }
  });

  it("behavior: a power of two has no form once ties are reachable", () => {
    for (const bits of [1, 5, 12])
      expect(findIntegerForm(rule(2 ** -bits), -(4 << bits), 4 << bits)).toBeUndefined();
  });

  it("behavior: equal to the rule on every accumulator of the range", () => {
    let state = 7;
    const random = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    let found = 0;
    for (let i = 0; i < 120; i++) {
      const scale = Math.fround(2 ** -(4 + random() * 8) * (1 + random()));
      const zero = Math.floor(random() * 256);
      const low = -Math.floor(random() * 60_000);
      const high = Math.floor(random() * 60_000);
      const wrong = countWrong(
        rule(scale, zero, Math.floor(random() * 20), 255 - Math.floor(random() * 20)),
        low,
        high,
      );
      expect(wrong).toBeLessThanOrEqual(0);
      if (wrong === 0) found++;
    }
    expect(found).toBeGreaterThan(80);
  });

  it("args: ranges of one accumulator, ranges outside all thresholds, scales of 1 and more", () => {
    expect(countWrong(rule(0.37), 5, 5)).toBe(0);
    expect(countWrong(rule(0.01), 1_000_000, 1_000_500)).toBe(0);
    expect(countWrong(rule(0.01), -1_000_500, -1_000_000)).toBe(0);
    expect(countWrong(rule(1), -300, 300)).toBe(0);
    expect(countWrong(rule(up(3), 128), -300, 300)).toBe(0);
  });
});
