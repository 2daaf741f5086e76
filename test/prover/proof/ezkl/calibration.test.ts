import { describe, expect, it } from "vitest";
import {
  calibrationData,
  candidateScales,
  randomSamples,
  readSamples,
} from "../../../../prover/proof/ezkl/calibration.ts";

const inputs = [
  { name: "a", type: "float32", dims: [1, 2] },
  { name: "b", type: "float32", dims: [1] },
] as const;
const sample = (a: number[], b: number[]) =>
  new Map([
    ["a", a],
    ["b", b],
  ]);

describe("readSamples", () => {
  it("default", () => {
    const value = [{ a: [[1, 2]], b: [3] }];
    expect(readSamples(value, inputs)).toEqual([sample([1, 2], [3])]);
  });

  it.each([
    [[], "it is not an array of samples"],
    [{ a: [1, 2] }, "it is not an array of samples"],
    [[7], "sample 0 is no object"],
    [[{ a: [1, 2], b: [1], c: [1] }], "sample 0 names c, which is no input"],
    [[{ a: [1], b: [1] }], "a of sample 0 must hold 2 finite numbers"],
    [[{ a: [1, "2"], b: [1] }], "a of sample 0 must hold 2 finite numbers"],
    [[{ a: [1, 2] }], "b of sample 0 must hold 1 finite numbers"],
  ])("error: %j", (value, why) => {
    expect(() => readSamples(value, inputs)).toThrow(why);
  });
});

describe("randomSamples", () => {
  it("default", () => {
    const samples = randomSamples(inputs, [-2, 3]);
    const numbers = samples.flatMap((held) => [...held.values()].flat());
    expect(numbers).toHaveLength(24);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(-2);
    expect(Math.max(...numbers)).toBeLessThan(3);
    expect(new Set(numbers).size).toBe(24);
    expect(randomSamples(inputs, [-2, 3])).toEqual(samples);
  });
});

describe("candidateScales", () => {
  it("default", () => {
    expect(candidateScales([sample([1, -2], [0])], "resources", undefined)).toEqual([8, 9, 10]);
    expect(candidateScales([sample([1, -2], [0])], "accuracy", undefined)).toEqual([11, 12, 13]);
  });

  it("behavior: every value fits 16 bits", () => {
    expect(candidateScales([sample([1, -7.9], [0])], "accuracy", undefined)).toEqual([11, 12]);
    expect(candidateScales([sample([255, 1], [0])], "accuracy", undefined)).toEqual([7]);
  });

  it("args: range", () => {
    expect(candidateScales([sample([0, 0], [0])], "accuracy", undefined, [-8, 1])).toEqual([11]);
  });

  it("error: what was asked for does not fit", () => {
    expect(() => candidateScales([sample([300, 1], [0])], "accuracy", [13])).toThrow(
      "With 13 fraction bits inputs up to 300 leave 16 bits; at most 6 fit.",
    );
    expect(() => candidateScales([sample([1e9, 1], [0])], "accuracy", undefined)).toThrow(/leave 16 bits/);
  });
});

describe("calibrationData", () => {
  it("default", () => {
    const data = JSON.parse(calibrationData([sample([1, 2], [3]), sample([4, 5], [6])], inputs, 1)) as {
      input_data: number[][];
    };
    expect(data.input_data.slice(0, 2)).toEqual([
      [1, 2, 4, 5],
      [3, 6],
    ]);
    expect(data.input_data[2]).toHaveLength(32);
    expect(new Set(data.input_data[2])).toEqual(new Set([-16_384, 16_383.5]));
  });
});
