import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BaseError } from "../../../base/errors.ts";
import { breakProgram } from "../../../conformance/generate/mutations.ts";
import { randomInput, seededProgram } from "../../../conformance/generate/random-program.ts";
import { line, rawInput, rawProgram, step, weight } from "../../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import {
  NONE,
  OPCODES,
  type Program,
  type Step,
  type WeightDescriptor,
} from "../../../inference/program/form.ts";
import { outputLength, weightBytes } from "../../../inference/program/shape.ts";
import {
  assertValid,
  describeProblem,
  readProgram,
  validateProgram,
} from "../../../inference/program/validate.ts";
import { createRng } from "../../support/rng.ts";

/** Steps 0 to 4 are inputs of each type, [2, 3] each; the step under test is step 5. */
const INPUTS: readonly Step[] = [
  rawInput("u8", [2, 3]),
  rawInput("s8", [2, 3], 6),
  rawInput("s32", [2, 3], 12),
  rawInput("f32", [2, 3], 36),
  rawInput("bool", [2, 3], 60),
];
const WEIGHTS: readonly WeightDescriptor[] = [
  { layout: "dot", type: "u8", dims: [4, 3] },
  { layout: "lookup", type: "s8", dims: [9, 5] },
  { layout: "channel", type: "u8", dims: [3] },
  { layout: "channel", type: "u8", dims: [1] },
  { layout: "plain", type: "u8", dims: [256] },
  { layout: "plain", type: "f32", dims: [9, 5] },
  { layout: "plain", type: "s32", dims: [1] },
  { layout: "plain", type: "f32", dims: [9, 1] },
  { layout: "plain", type: "s32", dims: [2, 4] },
];
const [U8, S8, S32, F32, BOOL] = [0, 1, 2, 3, 4];
const [DOT, LOOKUP, CHANNEL, CHANNEL1, TABLE, PLAIN, SCALAR, COLUMN, PAIRS] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(
  weight,
) as [number, number, number, number, number, number, number, number, number];

const around = (tested: Step): Program => ({ ...rawProgram(66, [...INPUTS, tested], WEIGHTS) });
const problemsOf = (tested: Step): string[] => validateProgram(around(tested)).map(describeProblem);
const view = (sizes: readonly number[]) =>
  sizes.map((size) => ({ view: size, a: 0, p: 0, b: 0, q: 0, c: 0 }));

const GOOD: Readonly<Record<string, Step>> = {
  codec: rawInput("u8", [2, 33]),
  move: step({ opcode: "move", type: "u8", dims: [7], a: U8, coordinates: view([1, 2, 3, 1]), k: 255 }),
  moveOver: step({
    opcode: "move",
    type: "f32",
    dims: [2, 3],
    a: F32,
    b: F32,
    coordinates: view([6, 1, 1, 1]),
  }),
  sum: step({ opcode: "lookup", dims: [2, 5], a: S32, b: LOOKUP }),
  pick: step({ opcode: "lookup", variant: 1, type: "f32", dims: [1, 5], a: SCALAR, b: PLAIN }),
  below: step({ opcode: "lookup", variant: 3, type: "f32", dims: [2, 3], a: S32, b: COLUMN, c: BOOL }),
  each: step({ opcode: "lookup", variant: 2, type: "f32", dims: [2, 3], a: S32, b: COLUMN }),
  dot: step({ opcode: "dot", dims: [2, 4], a: U8, b: DOT, k: 1 }),
  dotGroups: step({ opcode: "dot", variant: 2, type: "s8", dims: [4], a: S8, b: DOT, k: 2 }),
  requant: step({ opcode: "requant", variant: 1, type: "u8", dims: [2, 3], a: S32, b: CHANNEL }),
  requant1: step({ opcode: "requant", variant: 2, type: "s8", dims: [2, 3], a: S32, b: CHANNEL1 }),
  rescale: step({ opcode: "rescale", dims: [2, 3], a: S32, b: CHANNEL }),
  table: step({ opcode: "table", type: "bool", dims: [2, 3], a: S8, b: TABLE }),
  add: step({ opcode: "arith", type: "u8", dims: [4, 2, 3], a: BOOL, b: SCALAR }),
  eq: step({ opcode: "arith", variant: 8, type: "bool", dims: [2, 3], a: U8, b: S8 }),
  cast: step({ opcode: "arith", variant: 9, type: "bool", dims: [2, 3], a: S32 }),
  rotate: step({ opcode: "arith", variant: 10, dims: [3, 2, 4], a: PAIRS, b: PAIRS, k: 31 }),
  div: step({ opcode: "float", variant: 3, type: "f32", dims: [2, 3], a: F32, b: F32 }),
  sqrt: step({ opcode: "float", variant: 4, type: "f32", dims: [2, 3], a: F32 }),
  toint: step({ opcode: "float", variant: 12, type: "bool", dims: [2, 3], a: F32 }),
  tofloat: step({ opcode: "float", variant: 11, type: "f32", dims: [2, 3], a: BOOL }),
  dequant: step({ opcode: "float", variant: 13, type: "f32", dims: [2, 3], a: U8, b: F32, c: SCALAR }),
  quant: step({ opcode: "float", variant: 14, type: "s8", dims: [2, 3], a: F32, b: F32, c: S32 }),
  sumRows: step({ opcode: "reduce", dims: [2], a: U8 }),
  maxRows: step({ opcode: "reduce", variant: 2, type: "s8", dims: [1, 2, 1], a: S8 }),
  select: step({ opcode: "select", type: "f32", dims: [2, 3], a: BOOL, b: F32, c: F32 }),
};

/** One rule broken: the good step, what is changed, and the problem's field. */
const BROKEN: readonly (readonly [string, Partial<Step>, string])[] = [
  ["codec", { a: U8 }, "operand a"],
  ["codec", { variant: 3 }, "variant"],
  ["codec", { dims: [67] }, "last byte"],
  ["codec", { k: 1 }, "last byte"],
  ["codec", { dims: [0] }, "dims"],
  ["codec", { dims: [2 ** 24] }, "elements"],
  ["move", { a: 5 }, "operand a"],
  ["move", { a: NONE }, "operand a"],
  ["move", { a: DOT }, "layout of operand a"],
  ["move", { a: weight(7) }, "operand a"],
  ["move", { type: "s8" }, "type of operand a"],
  ["move", { variant: 1 }, "variant"],
  ["move", { k: 256 }, "k (pad)"],
  ["move", { c: U8 }, "operand c"],
  ["move", { coordinates: view([1, 2, 3, 2]) }, "product"],
  ["move", { coordinates: view([0, 2, 3, 1]) }, "view of coordinate 0"],
  [
    "move",
    { coordinates: [{ view: 6, a: 1, p: 1, b: 0, q: 0, c: 0 }, ...view([1, 1, 1])] },
    "p of coordinate 0",
  ],
  [
    "move",
    { coordinates: [{ view: 6, a: 0, p: 0, b: 1, q: 6, c: 0 }, ...view([1, 1, 1])] },
    "q of coordinate 0",
  ],
  ["moveOver", { k: 1 }, "k"],
  ["moveOver", { dims: [3, 2] }, "dims of operand b"],
  ["moveOver", { b: S32 }, "type of operand b"],
  [
    "moveOver",
    { coordinates: [{ view: 6, a: 0, p: 1, b: 0, q: 0, c: 0 }, ...view([1, 1, 1])] },
    "p of coordinate 0",
  ],
  [
    "moveOver",
    { coordinates: [{ view: 6, a: 0, p: 0, b: 0, q: 1, c: 0 }, ...view([1, 1, 1])] },
    "q of coordinate 0",
  ],
  ["sum", { variant: 4 }, "variant"],
  ["sum", { a: U8 }, "type of operand a"],
  ["sum", { dims: [3, 5] }, "rows of operand a"],
  ["sum", { dims: [2, 4] }, "last dim"],
  ["sum", { type: "f32" }, "type"],
  ["sum", { b: DOT }, "layout of operand b"],
  ["sum", { b: S32 }, "operand b"],
  ["sum", { k: 1 }, "k"],
  ["sum", { c: U8 }, "operand c"],
  ["pick", { a: S32 }, "last dim of operand a"],
  ["pick", { type: "s32" }, "type"],
  ["pick", { b: TABLE }, "rank of operand b"],
  ["pick", { b: LOOKUP }, "layout of operand b"],
  ["each", { a: F32 }, "type of operand a"],
  ["each", { dims: [3, 2] }, "dims of operand a"],
  ["each", { type: "s32" }, "type"],
  ["each", { b: PLAIN }, "last dim of operand b"],
  ["each", { b: TABLE }, "rank of operand b"],
  ["each", { b: LOOKUP }, "layout of operand b"],
  ["each", { c: U8 }, "operand c"],
  ["each", { k: 1 }, "k"],
  ["below", { a: F32 }, "type of operand a"],
  ["below", { dims: [3, 2], c: NONE }, "dims of operand a"],
  ["below", { type: "s32" }, "type"],
  ["below", { b: PLAIN }, "last dim of operand b"],
  ["below", { b: TABLE }, "rank of operand b"],
  ["below", { b: LOOKUP }, "layout of operand b"],
  ["below", { c: S8 }, "type of operand c"],
  ["below", { k: 1 }, "k"],
  ["dot", { a: S32 }, "type of operand a"],
  ["dot", { b: CHANNEL }, "layout of operand b"],
  ["dot", { dims: [2, 5] }, "last dim"],
  ["dot", { dims: [3, 4] }, "rows of operand a"],
  ["dot", { k: 0 }, "k (groups)"],
  ["dot", { k: 3 }, "k (groups)"],
  ["dot", { k: 2 }, "rows of operand a"],
  ["dot", { variant: 6 }, "variant"],
  ["dot", { type: "u8" }, "type"],
  ["dot", { c: U8 }, "operand c"],
  ["dotGroups", { type: "s32" }, "type"],
  ["requant", { variant: 0 }, "variant"],
  ["requant", { variant: 3 }, "variant"],
  ["requant", { type: "bool" }, "type"],
  ["requant", { a: U8 }, "type of operand a"],
  ["requant", { dims: [3, 2] }, "dims of operand a"],
  ["requant", { b: LOOKUP }, "layout of operand b"],
  ["requant", { k: 1 }, "k"],
  ["rescale", { variant: 3 }, "variant"],
  ["rescale", { type: "u8" }, "type"],
  ["rescale", { a: SCALAR, dims: [1] }, "channels of operand b"],
  ["table", { b: SCALAR }, "type of operand b"],
  ["table", { b: U8 }, "operand b"],
  ["table", { type: "s32" }, "type"],
  ["table", { a: S32 }, "type of operand a"],
  ["table", { dims: [6] }, "dims of operand a"],
  ["add", { variant: 11 }, "variant"],
  ["add", { type: "bool" }, "type"],
  ["add", { b: NONE }, "operand b"],
  ["add", { b: F32 }, "type of operand b"],
  ["add", { dims: [4, 2, 4] }, "dims of operand a"],
  ["add", { dims: [3] }, "dims of operand a"],
  ["add", { c: S32 }, "operand c"],
  ["eq", { type: "u8" }, "type"],
  ["cast", { b: S32 }, "operand b"],
  ["cast", { type: "f32" }, "type"],
  ["rotate", { type: "bool" }, "type"],
  ["rotate", { dims: [3, 2, 2] }, "dims of operand a"],
  ["rotate", { dims: [2, 3], a: S32, b: S32 }, "last dim"],
  ["rotate", { a: F32 }, "type of operand a"],
  ["rotate", { b: SCALAR }, "last dim of operand b"],
  ["rotate", { c: PAIRS }, "operand c"],
  ["rotate", { k: 32 }, "k (shift)"],
  ["div", { variant: 15 }, "variant"],
  ["div", { a: S32 }, "type of operand a"],
  ["div", { c: F32 }, "operand c"],
  ["sqrt", { b: F32 }, "operand b"],
  ["toint", { type: "f32" }, "type"],
  ["tofloat", { a: F32 }, "type of operand a"],
  ["tofloat", { type: "s32" }, "type"],
  ["dequant", { c: NONE }, "operand c"],
  ["dequant", { c: U8 }, "type of operand c"],
  ["quant", { type: "s32" }, "type"],
  ["quant", { b: S32 }, "type of operand b"],
  ["quant", { k: 1 }, "k"],
  ["sumRows", { type: "u8" }, "type"],
  ["sumRows", { dims: [3] }, "rows of operand a"],
  ["sumRows", { a: F32 }, "type of operand a"],
  ["sumRows", { b: U8 }, "operand b"],
  ["sumRows", { variant: 4 }, "variant"],
  ["maxRows", { type: "u8" }, "type"],
  ["select", { a: U8 }, "type of operand a"],
  ["select", { b: S32 }, "type of operand b"],
  ["select", { c: NONE }, "operand c"],
  ["select", { type: "s32" }, "type of operand b"],
];

describe("validateProgram", () => {
  test.each(Object.keys(GOOD))("default: %s", (name) => {
    expect(problemsOf(GOOD[name] as Step)).toEqual([]);
  });

  test.each(BROKEN)("error: %s with %j", (name, change, field) => {
    const problems = problemsOf({ ...(GOOD[name] as Step), ...change });
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.some((problem) => problem.includes(`${field} `) || problem.includes(`${field}:`))).toBe(
      true,
    );
  });

  test("error: every opcode has a broken case", () => {
    const opcodes = new Set(BROKEN.map(([name]) => (GOOD[name] as Step).opcode));
    expect([...opcodes].sort()).toEqual([...OPCODES].sort());
  });

  test.each<[string, Partial<Program>]>([
    ["input size", { inputSize: 0 }],
    ["input size", { inputSize: 65_537 }],
    ["number of steps", { steps: [] }],
    ["type", { outputCodec: "int16s" }],
    ["type", { outputCodec: "words", steps: [rawInput("f32", [2])] }],
    ["elements", { outputCodec: "words", inputSize: 300, steps: [rawInput("u8", [257])] }],
    [
      "bytes",
      {
        steps: [
          rawInput("u8", [4]),
          step({ opcode: "move", type: "u8", dims: [3, 32_768], a: 0, coordinates: view([4, 1, 1, 1]) }),
        ],
      },
    ],
    ["K", { weights: [{ layout: "dot", type: "u8", dims: [1, 2017] }] }],
    ["D", { weights: [{ layout: "lookup", type: "s8", dims: [1, 1025] }] }],
    ["type", { weights: [{ layout: "dot", type: "s8", dims: [1, 1] }] }],
    ["type", { weights: [{ layout: "lookup", type: "u8", dims: [1, 1] }] }],
    ["rank", { weights: [{ layout: "channel", type: "u8", dims: [1, 1] }] }],
    ["rank", { weights: [{ layout: "dot", type: "u8", dims: [4] }] }],
    ["dims", { weights: [{ layout: "plain", type: "u8", dims: [0] }] }],
    ["elements", { weights: [{ layout: "plain", type: "u8", dims: [2 ** 24] }] }],
    ["leaves", { weights: [{ layout: "plain", type: "u8", dims: [2 ** 22 + 1, 1] }] }],
  ])("error: %s of the header, a weight tensor or the output", (field, change) => {
    const program = { ...rawProgram(66, [rawInput("u8", [2])]), ...change };
    expect(validateProgram(program).map((problem) => problem.field)).toContain(field);
  });

  test.each<[string, Partial<Program>, Partial<Step>, string]>([
    ["text", { inputCodec: "text", inputSize: 10 }, { variant: 1, dims: [64, 16], k: 2 }, ""],
    ["text", { inputCodec: "text", inputSize: 10 }, { variant: 1, dims: [65, 16], k: 2 }, "dims"],
    ["text", { inputCodec: "text", inputSize: 10 }, { variant: 1, dims: [64, 17], k: 2 }, "dims"],
    ["text", { inputCodec: "text", inputSize: 10 }, { variant: 1, dims: [64, 1, 1], k: 2 }, "dims"],
    ["text", { inputCodec: "text", inputSize: 10 }, { variant: 1, dims: [64, 1], k: 1 }, "k (table rows)"],
    [
      "text",
      { inputCodec: "text", inputSize: 10 },
      { variant: 1, dims: [64, 1], k: 2 ** 24 + 1 },
      "k (table rows)",
    ],
    ["prices", { inputCodec: "prices", inputSize: 10 }, { variant: 2, dims: [3, 9] }, ""],
    ["prices", { inputCodec: "prices", inputSize: 10 }, { variant: 2, dims: [3, 10] }, "dims"],
    ["prices", { inputCodec: "prices", inputSize: 10 }, { variant: 2, dims: [3, 9], k: 1 }, "k"],
    ["int16s", { inputCodec: "int16s", inputSize: 10 }, { variant: 3, dims: [2, 4], k: 2 }, ""],
    [
      "int16s",
      { inputCodec: "int16s", inputSize: 10 },
      { variant: 3, dims: [2, 4], k: 3 },
      "last number (k + elements)",
    ],
    ["int16s", { inputCodec: "int16s", inputSize: 10 }, { variant: 3, type: "u8", dims: [2] }, "type"],
  ])("behavior: the codec %s", (_codec, header, fields, field) => {
    const program = { ...rawProgram(1, [step({ opcode: "codec", ...fields })]), ...header };
    expect(validateProgram(program).map((problem) => problem.field)).toEqual(field === "" ? [] : [field]);
  });

  test("behavior: a broken step is named once, not again by its readers", () => {
    const broken = rawProgram(66, [rawInput("u8", [0]), line(0, "u8", 4, 3), line(1, "u8", 3, 3)]);
    expect(validateProgram(broken).map((problem) => problem.place)).toEqual(["step 0 (codec)"]);
  });

  test("behavior: every random program is valid", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.boolean(), (seed, hostile) => {
        expect(validateProgram(seededProgram(seed, { hostile }).model.program)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test("behavior: any bytes are refused by our error, or run with any weights", () => {
    let [ran, refused] = [0, 0];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const rng = createRng(seed);
        const bytes = breakProgram(
          rng,
          encodeProgram(seededProgram(seed, { hostile: true, steps: 1 }).model.program),
        );
        let program: Program;
        try {
          program = readProgram(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(BaseError);
          refused++;
          return;
        }
        const weights = program.weights.map((descriptor) => rng.bytes(weightBytes(descriptor)));
        const selector = rng.bytes(4);
        const calldata = encodeInput(program, selector, randomInput(rng, program, true));
        expect(execute(prepare({ program, weights }, selector), calldata)).toHaveLength(
          outputLength(program),
        );
        ran++;
      }),
      { numRuns: 400, seed: 1 },
    );
    expect(Math.min(ran, refused)).toBeGreaterThan(15);
  });
});

describe("assertValid", () => {
  test("error: lists every problem", () => {
    const program = around({ ...(GOOD.dot as Step), a: S32, k: 3 });
    expect(() => assertValid(program)).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: The program breaks 3 structure rule(s): step 5 (dot): type of operand a is s32, must be u8 or s8; step 5 (dot): k (groups) is 3, must be >= 1 and a divisor of N = 4; step 5 (dot): rows of operand a is 2, must be 6. Import the model again with this version; a registry refuses these bytes.]`,
    );
  });
});
