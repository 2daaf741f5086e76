import { describe, expect, test } from "vitest";
import { line, rawInput, rawProgram, step, weight } from "../../../conformance/generate/small-programs.ts";
import { describeProgram } from "../../../inference/program/describe.ts";
import type { Program } from "../../../inference/program/form.ts";
import {
  demandDepth,
  locate,
  maxCalldata,
  modelWord,
  outputLength,
  tensorShape,
  weightBytes,
  weightShape,
} from "../../../inference/program/shape.ts";

describe("tensorShape", () => {
  test.each([
    ["one byte", "u8", [1], { rows: 1, words: 1, rowBytes: 1, rowHeight: 0, height: 0 }],
    ["a full word", "u8", [32], { rows: 1, words: 1, rowBytes: 32, rowHeight: 0, height: 0 }],
    ["a byte more", "bool", [33], { rows: 1, words: 2, rowBytes: 33, rowHeight: 1, height: 1 }],
    ["words of four bytes", "f32", [3, 5, 17], { rows: 15, words: 3, rowBytes: 68, rowHeight: 2, height: 6 }],
  ] as const)("default: %s", (_name, type, dims, shape) => {
    expect(tensorShape(type, dims)).toEqual(shape);
  });
});

describe("weightShape", () => {
  test.each([
    ["dot", [3, 33], { rows: 3, words: 3, rowBytes: 96, rowHeight: 2, height: 4 }],
    ["lookup", [4, 33], { rows: 4, words: 2, rowBytes: 64, rowHeight: 1, height: 3 }],
    ["channel", [5], { rows: 5, words: 1, rowBytes: 32, rowHeight: 0, height: 3 }],
    ["plain", [2, 33], { rows: 2, words: 2, rowBytes: 33, rowHeight: 1, height: 2 }],
  ] as const)("default: %s", (layout, dims, shape) => {
    const descriptor = { layout, type: "u8", dims } as const;
    expect(weightShape(descriptor)).toEqual(shape);
    expect(weightBytes(descriptor)).toBe(shape.rows * shape.rowBytes);
  });
});

describe("locate", () => {
  test("default", () => {
    expect(locate("s32", [2, 3, 9], 9 * 4 + 8)).toEqual({ row: 4, word: 1, byte: 0 });
    expect(locate("u8", [2, 40], 79)).toEqual({ row: 1, word: 1, byte: 7 });
  });
});

const sizes = (inputCodec: Program["inputCodec"], inputSize: number): Program => ({
  ...rawProgram(inputSize, [step({ opcode: "codec", dims: [17] })]),
  inputCodec,
});

describe("maxCalldata", () => {
  test.each([
    ["text", 1, 4 + 64 + 32],
    ["text", 65, 4 + 64 + 96],
    ["raw", 64, 4 + 64 + 64],
    ["prices", 2, 4 + 96 + 3 * (32 + 64)],
    ["int16s", 17, 4 + 64 + 64],
  ] as const)("default: %s of size %i", (codec, size, bytes) => {
    expect(maxCalldata(sizes(codec, size))).toBe(bytes);
  });
});

describe("outputLength", () => {
  test.each([
    ["words", 17 * 32],
    ["int16s", 64 + 64],
    ["raw", 64 + 32 * 3],
  ] as const)("default: %s", (outputCodec, bytes) => {
    expect(outputLength({ ...sizes("raw", 68), outputCodec })).toBe(bytes);
  });
});

describe("demandDepth", () => {
  const depth = (steps: number, elements: number): number =>
    demandDepth(
      rawProgram(
        1,
        Array.from({ length: steps }, () => rawInput("u8", [elements, 1])),
      ),
    );

  test.each([
    [1, 1, 1],
    [1, 64, 1],
    [1, 65, 2],
    [64, 4096, 2],
    [65, 4096, 3],
    [1, 4097, 3],
    [4096, 2 ** 22, 5],
  ])("default: %i steps of %i rows need %i", (steps, rows, demands) => {
    expect(depth(steps, rows)).toBe(demands);
  });
});

describe("modelWord", () => {
  test("default", () => {
    const program = rawProgram(
      4,
      [rawInput("u8", [4]), line(0, "u8", 4, 3)],
      [{ layout: "channel", type: "u8", dims: [1] }],
    );
    const word = modelWord(program, 0xa1b2c3d4, 5);
    expect(word.toString(16).padStart(52, "0")).toBe(
      [
        "00000004",
        "03",
        "04",
        "00000060",
        "00000064",
        "a1b2c3d4",
        "0001",
        "0002",
        "01",
        "01",
        "05",
        "01",
      ].join(""),
    );
  });
});

describe("describeProgram", () => {
  test("default", () => {
    const program = rawProgram(
      6,
      [
        rawInput("u8", [2, 3]),
        step({ opcode: "dot", variant: 1, type: "s8", dims: [2, 4], a: 0, b: weight(0), k: 1 }),
        step({
          opcode: "move",
          type: "s8",
          dims: [9],
          a: 1,
          k: 128,
          coordinates: [
            { view: 8, a: -1, p: 0, b: 0, q: 0, c: 7 },
            ...[1, 1, 1].map((size) => ({ view: size, a: 0, p: 0, b: 0, q: 0, c: 0 })),
          ],
        }),
      ],
      [{ layout: "dot", type: "u8", dims: [4, 3] }],
    );
    expect(describeProgram(program).join("\n")).toMatchInlineSnapshot(`
      "input raw (size 6), output raw, at most 100 bytes of calldata, 96 bytes of return data
      3 steps, 1 weight tensors of 256 bytes, 24 multiply-accumulates, trace height 2, at most 1 demands to a word
      w0: dot u8[4,3]  (4 row(s) of 2 word(s), height 3)
      s0: u8[2,3] = codec()  (2 row(s) of 1 word(s), height 1)
      s1: s8[2,4] = dot.integer(s0, w0, groups 1)  (2 row(s) of 1 word(s), height 1)
      s2: s8[9] = move(s1, view[8,1,1,1] at (-i0+7, 0, 0, 0), pad 128)  (1 row(s) of 1 word(s), height 0)"
    `);
  });
});
