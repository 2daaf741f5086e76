/** Masks of a program that are more together than a proof could hold at once. */
import { expect, it } from "vitest";
import { KnownRanges } from "../../../inference/profile/causality/known.ts";
import type { WeightRanges } from "../../../inference/profile/context.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { MAX_KEPT_INTERVALS, uniform } from "../../../inference/profile/range.ts";
import { type Model, NONE, type Step, WEIGHT } from "../../../inference/program/form.ts";

const SIDE = 2_048;
const MASKS = MAX_KEPT_INTERVALS / SIDE ** 2 + 1;

const neutral = { variant: 0, c: NONE, k: 0, coordinates: [] } as const;
const input: Step = {
  ...neutral,
  ...{ opcode: "codec", variant: 2, type: "s32", dims: [1, 1], a: NONE, b: NONE },
};

/** @param conditions of a row of a mask */
const modelOf = (conditions: Uint8Array, masks: readonly Step[]): Model => ({
  program: {
    inputCodec: "int16s",
    outputCodec: "int16s",
    inputSize: 1,
    weights: [
      { layout: "plain", type: "bool", dims: [1, conditions.length] },
      { layout: "plain", type: "s32", dims: [1, 1] },
      { layout: "plain", type: "bool", dims: [1, 1] },
    ],
    steps: [input, ...masks],
  },
  weights: [conditions, Uint8Array.of(0, 0, 0, 7), Uint8Array.of(0)],
});

it("behavior: each element of a mask is known, however many masks there are, and whichever is asked for", () => {
  const mask: Step = {
    ...neutral,
    ...{ opcode: "select", type: "s32", dims: [SIDE, SIDE], a: WEIGHT, b: WEIGHT + 1, c: 0 },
  };
  // Of each two columns one is 7 whatever the input is.
  const model = modelOf(
    Uint8Array.from({ length: SIDE }, (_, i) => i % 2),
    new Array<Step>(MASKS).fill(mask),
  );
  const { ranges, problems } = analyse(model);
  expect(problems).toEqual([]);
  const known = new KnownRanges(model, ranges, new Map());
  for (let step = 0; step <= MASKS; step++) known.next();
  for (const step of [1, MASKS, 2]) {
    const range = known.at(step);
    expect(range?.low.length).toBe(SIDE ** 2);
    for (const element of [1, SIDE + 1, SIDE ** 2 - 1])
      expect([range?.low[element], range?.high[element]]).toEqual([7, 7]);
    for (const element of [0, SIDE]) expect(range?.low[element]).toBeLessThan(7);
  }
});

it("behavior: of masks of masks that were forgotten as many are computed at once as a proof holds", () => {
  // Two of them are less than it holds.
  const dims = [4_096, 4_095];
  const seven: Step = {
    ...neutral,
    ...{ opcode: "select", type: "s32", dims, a: WEIGHT + 2, b: 0, c: WEIGHT + 1 },
  };
  const same = (c: number): Step => ({ ...seven, b: 0, c });
  // More intervals than are kept beside others.
  const other: Step = { ...seven, dims: [SIDE, SIDE + 1], a: WEIGHT, b: WEIGHT + 1, c: 0 };
  const columns = Uint8Array.from({ length: SIDE + 1 }, (_, i) => i % 2);
  const model = modelOf(columns, [seven, same(1), same(2), other]);
  // What is found of a mask that is not computed.
  const wide = uniform(0, 9);
  const known = new KnownRanges(model, [uniform(-32_768, 32_767), wide, wide, wide, wide], new Map());
  for (let step = 0; step <= 3; step++) expect(known.next().low[0]).toBe(step === 0 ? -32_768 : 7);
  known.next();
  const lowest = known.at(3)?.low[0];
  const lowestOf = (step: number): number | undefined => known.at(step)?.low[0];
  expect(lowest).toBe(0);
  expect([1, 2].map(lowestOf)).toEqual([7, 0]);
});

it("behavior: a table is gone through once, however often masks that LOOKUP below makes of it are computed", () => {
  const counts: Step = { ...neutral, opcode: "arith", variant: 6, type: "bool", dims: [1, 1], a: 0, b: 0 };
  const mask: Step = {
    ...neutral,
    opcode: "lookup",
    variant: 3,
    type: "bool",
    dims: [1, 1],
    a: 0,
    b: WEIGHT,
    c: 1,
  };
  const { program, weights } = modelOf(Uint8Array.of(1, 0, 0), [counts, mask]);
  const [, ...others] = program.weights;
  const table = { layout: "plain", type: "bool", dims: [3, 1] } as const;
  const model: Model = { program: { ...program, weights: [table, ...others] }, weights };
  const constants: WeightRanges = new Map();
  const known = new KnownRanges(model, [uniform(0, 0), uniform(0, 1), uniform(0, 1)], constants);
  for (let step = 0; step <= 2; step++) known.next();
  // One number is 0 below the largest of its row.
  expect([known.at(2)?.low[0], known.at(2)?.high[0]]).toEqual([0, 1]);
  expect(Array.from(constants.get(0)?.low ?? [])).toEqual([1, 0, 0]);
});
