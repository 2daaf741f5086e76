/** Programs at the ends of what the structure rules allow: each with a number that is the limit, one more or less. */
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Program, Step, WeightDescriptor } from "../../inference/program/form.ts";
import type { Area } from "../case.ts";
import { createRng } from "../generate/rng.ts";
import { line, rawInput, rawProgram, step, weight } from "../generate/small-programs.ts";
import { programCase } from "./structure.ts";

/** The limit, and the program with a number in its place. */
type Edge = readonly [limit: number, program: (n: number) => Program];

const channel: WeightDescriptor = { layout: "channel", type: "u8", dims: [1] };

/** Steps behind an input of one byte, or of other dims, and a step that gives one byte at the end. */
const behind = (
  steps: readonly Step[],
  weights: Program["weights"] = [],
  [type, dims]: readonly [Step["type"], readonly number[]] = ["u8", [1]],
): Program => rawProgram(65_536, [rawInput(type, dims), ...steps, line(0, type, product(dims), 1)], weights);

const product = (dims: readonly number[]): number => dims.reduce((all, dim) => all * dim, 1);

const textProgram = (inputSize: number, dims: readonly number[], k: number): Program => ({
  ...rawProgram(inputSize, [step({ opcode: "codec", variant: 1, dims, k })]),
  inputCodec: "text",
});
const pricesProgram = (inputSize: number, days: number): Program => ({
  ...rawProgram(inputSize, [step({ opcode: "codec", variant: 2, dims: [3, days] })]),
  inputCodec: "prices",
});
const int16sProgram = (inputSize: number, count: number, k: number): Program => ({
  ...rawProgram(inputSize, [step({ opcode: "codec", variant: 3, dims: [count], k })]),
  inputCodec: "int16s",
});
const dotProgram = (k: number, n: number, groups: number): Program =>
  behind(
    [step({ opcode: "dot", dims: [1, n], a: 0, b: weight(0), k: groups })],
    [{ layout: "dot", type: "u8", dims: [n, k] }],
    ["u8", [groups, k]],
  );
/** Rows of a and b are the input's: `rows` of a, `rows / share` matrices of n rows of b. */
const activationsProgram = (k: number, rows: number, share: number, n: number): Program =>
  behind(
    [step({ opcode: "dot", variant: 3, type: "s32", dims: [rows, n], a: 0, b: 0, k: share })],
    [],
    ["u8", [rows, k]],
  );
const normProgram = (type: Step["type"], length: number, k: number): Program =>
  behind([step({ opcode: "reduce", variant: 3, dims: [1], a: 0, k })], [], [type, [1, length]]);
const ratioProgram = (rows: number, divisors: number, k: number, variant = 1): Program =>
  behind(
    [step({ opcode: "rescale", variant, dims: [rows, 2], a: 0, b: weight(0), k })],
    [{ layout: "plain", type: "s32", dims: [divisors] }],
    ["s32", [rows, 2]],
  );
/** Numbers of 16 bits of two rows of `length`. */
const planesProgram = (length: number, last: number, channels: number, rows = 2, k = 0): Program =>
  behind(
    [step({ opcode: "rescale", variant: 2, type: "u8", dims: [rows, last], a: 0, b: weight(0), k })],
    [{ layout: "channel", type: "u8", dims: [channels] }],
    ["s32", [2, length]],
  );
/** The same of numbers that are multiplied, or with a k divided, by `count` ones. */
const changedProgram = (count: number, k: number): Program =>
  behind(
    [step({ opcode: "rescale", variant: 2, type: "u8", dims: [2, 6], a: 0, b: weight(0), c: weight(1), k })],
    [
      { layout: "channel", type: "u8", dims: [1] },
      { layout: "plain", type: "s32", dims: [count] },
    ],
    ["s32", [2, 3]],
  );
/** Their product with n rows of k weights. */
const planesDotProgram = (
  k: number,
  last: number,
  n: number,
  groups: number,
  type: Step["type"] = "u8",
  variant = 4,
): Program =>
  behind(
    [step({ opcode: "dot", variant, type: "s32", dims: [2, n], a: 0, b: weight(0), k: groups })],
    [{ layout: "dot", type: "u8", dims: [n, k] }],
    [type, [2 * groups, last]],
  );
const lookupProgram = (ids: number, d: number): Program =>
  behind(
    [step({ opcode: "lookup", dims: [1, d], a: 0, b: weight(0) })],
    [{ layout: "lookup", type: "s8", dims: [2, d] }],
    ["s32", [1, ids]],
  );
/** Elements of a table of three rows of `width`. */
const eachProgram = (variant: number, width: number, last = 3, k = 0): Program =>
  behind(
    [step({ opcode: "lookup", variant, type: "u8", dims: [2, last], a: 0, b: weight(0), k })],
    [{ layout: "plain", type: "u8", dims: [3, width] }],
    ["s32", [2, 3]],
  );
/** Elements by distances in rows of `length`, with a mask whose rows have `counted`. */
const belowProgram = (length: number, counted = length, type: Step["type"] = "bool", k = 0): Program =>
  behind(
    [
      step({
        opcode: "lookup",
        variant: 3,
        type: "u8",
        dims: [2, length],
        a: 0,
        b: weight(0),
        c: weight(1),
        k,
      }),
    ],
    [
      { layout: "plain", type: "u8", dims: [3, 1] },
      { layout: "plain", type, dims: [counted] },
    ],
    ["s32", [2, length]],
  );
/** Pairs of a tensor [2, `a`], turned by those of [`b`]. */
const rotateProgram = (a: number, b: number, k: number, type: Step["type"] = "s32", variant = 10): Program =>
  behind(
    [step({ opcode: "arith", variant, type, dims: [2, a], a: 0, b: weight(0), k })],
    [{ layout: "plain", type: "s32", dims: [b] }],
    ["s32", [2, a]],
  );
const output = (outputCodec: Program["outputCodec"], type: Step["type"], count: number): Program => ({
  ...rawProgram(4, [rawInput(type, [1]), line(0, type, 1, count)]),
  outputCodec,
});

/** The claimed output beside a last step of [6, 4] elements. */
const claimedEdge = (fields: Partial<Step>, type: Step["type"] = "u8"): Program => ({
  ...rawProgram(24, [
    step({ opcode: "codec", variant: 5, type, dims: [6, 4], ...fields }),
    rawInput(type, [6, 4]),
  ]),
  outputCodec: "raw",
});

const EDGES: readonly Edge[] = [
  [5, (n) => claimedEdge({ variant: n })],
  [6, (n) => claimedEdge({ dims: [n, 4] })],
  [0, (n) => claimedEdge({ k: n })],
  [1, (n) => claimedEdge({ type: n === 1 ? "u8" : "s8" })],
  [1, (n) => claimedEdge({ dims: n === 1 ? [6, 4] : [24] })],
  [4_096, (n) => textProgram(n, [1, 1], 2)],
  [1, (n) => textProgram(n, [1, 1], 2)],
  [64, (n) => textProgram(9, [n, 1], 2)],
  [16, (n) => textProgram(9, [1, n], 2)],
  [2, (n) => textProgram(9, [1, 1], n)],
  [2 ** 24, (n) => textProgram(9, [1, 1], n)],
  [256, (n) => pricesProgram(n, n - 1)],
  [2, (n) => pricesProgram(n, 1)],
  [7, (n) => pricesProgram(8, n)],
  [4_096, (n) => int16sProgram(n, 1, 0)],
  [1, (n) => int16sProgram(n, 1, 0)],
  [5, (n) => int16sProgram(8, n, 3)],
  [3, (n) => int16sProgram(8, 5, n)],
  [65_536, (n) => rawProgram(n, [rawInput("u8", [1])])],
  [1, (n) => rawProgram(n, [rawInput("u8", [1])])],
  [5, (n) => rawProgram(8, [rawInput("u8", [n], 3)])],
  [1, (n) => rawProgram(8, [rawInput("s32", [n], 3)])],
  [4_096, (n) => rawProgram(65_536, [rawInput("u8", [n, 1]), line(0, "u8", n, 1)])],
  [2 ** 22, (n) => behind([{ ...line(0, "u8", 1, 1), dims: [n, 1] }])],
  [2 ** 24, (n) => behind([line(0, "u8", 1, n)])],
  [255, (n) => behind([{ ...line(0, "u8", 1, 2), k: n }])],
  [1, (n) => behind([line(0, "u8", n, 2)])],
  [0, (n) => behind([{ ...line(0, "u8", 1, 2), a: n }])],
  [992, (n) => dotProgram(n, 1, 1)],
  [2, (n) => dotProgram(3, 6, n)],
  [4, (n) => dotProgram(3, 4, n)],
  [1_024, (n) => activationsProgram(n, 2, 1, 1)],
  [2, (n) => activationsProgram(3, 4, n, 2)],
  [4, (n) => activationsProgram(3, 4, 4, n)],
  // Three rows a matrix do not fill four rows.
  [3, (n) => activationsProgram(3, 4, 3, n)],
  [6, (n) => activationsProgram(3, n, 3, 3)],
  [
    3,
    (n) =>
      behind(
        [step({ opcode: "dot", variant: n, type: "s32", dims: [2, 2], a: 0, b: 0, k: 2 })],
        [],
        ["u8", [2, 3]],
      ),
  ],
  [16, (n) => lookupProgram(n, 3)],
  [1_024, (n) => lookupProgram(2, n)],
  [3, (n) => eachProgram(n, 1)],
  [1, (n) => eachProgram(2, n)],
  [3, (n) => eachProgram(2, 1, n)],
  [0, (n) => eachProgram(2, 1, 3, n)],
  [1_024, (n) => belowProgram(n)],
  [3, (n) => belowProgram(3, n)],
  [0, (n) => belowProgram(3, 3, "bool", n)],
  [
    1,
    (n) =>
      behind(
        [step({ opcode: "requant", variant: n, type: "u8", dims: [2], a: 0, b: weight(0) })],
        [channel],
        ["s32", [2]],
      ),
  ],
  [
    2,
    (n) =>
      behind(
        [step({ opcode: "rescale", dims: [4], a: 0, b: weight(0) })],
        [{ ...channel, dims: [n * 2] }],
        ["s32", [4]],
      ),
  ],
  [1, (n) => ratioProgram(2, 2, n)],
  [3, (n) => ratioProgram(3, n, 7)],
  [1, (n) => ratioProgram(2, 2, 1, n)],
  [6, (n) => planesProgram(3, n, 3)],
  [3, (n) => planesProgram(3, 6, n)],
  [2, (n) => planesProgram(3, 6, 1, n)],
  [0, (n) => planesProgram(3, 6, 1, 2, n)],
  [6, (n) => changedProgram(n, 0)],
  [2, (n) => changedProgram(n, 7)],
  [6, (n) => changedProgram(n, 7)],
  [2016, (n) => planesDotProgram(n, 2 * n, 1, 1)],
  [2016, (n) => planesDotProgram(n, 2 * n, 1, 1, "u8", 5)],
  [5, (n) => planesDotProgram(3, 6, 4, 1, "u8", n)],
  [6, (n) => planesDotProgram(3, n, 4, 2)],
  [2, (n) => planesDotProgram(3, 6, 4, n)],
  [1, (n) => planesDotProgram(3, 6, 4, 1, (["u8", "u8", "s8"] as const)[n])],
  [
    256,
    (n) =>
      behind(
        [step({ opcode: "table", type: "u8", a: 0, b: weight(0) })],
        [{ layout: "plain", type: "u8", dims: [n] }],
      ),
  ],
  [
    0,
    (n) =>
      behind(
        [step({ opcode: "table", type: "u8", a: 0, b: weight(0) })],
        [{ layout: "plain", type: (["u8", "s8", "bool"] as const)[Math.max(0, n)] ?? "u8", dims: [256] }],
      ),
  ],
  [1_024, (n) => behind([step({ opcode: "reduce", dims: [1], a: 0 })], [], ["u8", [1, n]])],
  [1_024, (n) => behind([step({ opcode: "reduce", dims: [1], a: 0 })], [], ["s32", [1, n]])],
  [8_192, (n) => normProgram("u8", n, 0)],
  [2_048, (n) => normProgram("s32", n, 2 ** 32 - 1)],
  [0, (n) => behind([step({ opcode: "reduce", dims: [1], a: 0, k: n })], [], ["u8", [1, 2]])],
  [3, (n) => behind([step({ opcode: "reduce", variant: n, dims: [1], a: 0, k: 1 })], [], ["s32", [1, 2]])],
  [9, (n) => behind([step({ opcode: "arith", variant: n, type: "u8", a: 0, b: n === 9 ? 0xffff : 0 })])],
  [14, (n) => behind([step({ opcode: "float", variant: n, type: "f32", a: 0, b: 0 })], [], ["f32", [1]])],
  [
    1,
    (n) =>
      behind(
        [step({ opcode: "select", type: "bool", dims: [n, 2], a: 0, b: 0, c: 0 })],
        [],
        ["bool", [2, 1]],
      ),
  ],
  [0, (n) => behind([step({ opcode: "arith", a: 0, b: 0, k: n })])],
  [1, (n) => behind([step({ opcode: "arith", a: 0, b: n, c: 0xffff })])],
  [10, (n) => rotateProgram(4, 4, 0, "s32", n)],
  [31, (n) => rotateProgram(4, 4, n)],
  [2, (n) => rotateProgram(n, n, 0)],
  [4, (n) => rotateProgram(4, n, 0)],
  [2, (n) => rotateProgram(4, 4, 0, (["u8", "s8", "s32", "f32"] as const)[n])],
  [256, (n) => output("words", "s32", n)],
  [4_096, (n) => output("int16s", "s32", n)],
  [65_536, (n) => output("raw", "u8", n)],
  [16_384, (n) => output("raw", "s32", n)],
];

export const EDGE_PROGRAMS: Area = {
  name: "edges",
  about: "programs at the limit of each structure rule: the limit, one more, one less",
  lines: ["program"],
  *cases(seed) {
    const [limit, program] = EDGES[seed % EDGES.length] as Edge;
    const over = createRng(seed).int(-2, 2);
    for (const n of [limit - 1, limit, limit + 1, limit + over]) {
      const made = n < 0 ? undefined : program(n);
      if (made !== undefined) yield programCase(encodeProgram(made));
    }
  },
};
