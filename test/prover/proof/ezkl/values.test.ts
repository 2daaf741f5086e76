import { describe, expect, it } from "vitest";
import { fromFixedPoint, toFixedPoint } from "../../../../prover/proof/ezkl/values.ts";

const entries = [
  { name: "a", dims: [1, 2], offset: 0, scaleBits: 3 },
  { name: "b", dims: [1], offset: 2, scaleBits: 0 },
];

describe("toFixedPoint", () => {
  it("default", () => {
    expect(toFixedPoint(entries, { a: [[0.0625, -0.0625]], b: 7 })).toEqual([1, -1, 7]);
    expect(toFixedPoint(entries, { a: [4095.875, -4096], b: [-0.4] })).toEqual([32_767, -32_768, -0]);
  });

  it.each([
    [{ a: [1, 2] }, "element 0 of b is no number"],
    [{ a: [1], b: [1] }, "a has 1 elements, must have 2"],
    [{ a: [1, 4096], b: [1] }, "element 1 of a is 4096, must be at least -4096 and below 4096"],
    [{ a: [1, Number.NaN], b: [1] }, "element 1 of a is NaN"],
    [{ a: [1, 2], b: [1], c: 1 }, "c is unknown"],
  ])("error: %j", (values, why) => {
    expect(() => toFixedPoint(entries, values)).toThrow(why);
  });
});

describe("fromFixedPoint", () => {
  it("default", () => {
    expect(fromFixedPoint(entries, [1n, -8n, 3n])).toEqual({ a: [0.125, -1], b: [3] });
  });
});
