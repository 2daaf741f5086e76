/** Masks of a program that are more together than a proof could hold at once. */
import { expect, it } from "vitest";
import { KnownRanges } from "../../../inference/profile/causality/known.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { MAX_KEPT_INTERVALS } from "../../../inference/profile/range.ts";
import { type Model, NONE, type Step, WEIGHT } from "../../../inference/program/form.ts";

const SIDE = 2_048;
const MASKS = MAX_KEPT_INTERVALS / SIDE ** 2 + 1;

it("behavior: each element of a mask is known, however many masks there are, and whichever is asked for", () => {
  const neutral = { variant: 0, c: NONE, k: 0, coordinates: [] } as const;
  const input: Step = {
    ...neutral,
    opcode: "codec",
    variant: 2,
    type: "s32",
    dims: [1, 1],
    a: NONE,
    b: NONE,
  };
  const mask: Step = {
    ...neutral,
    ...{ opcode: "select", type: "s32", dims: [SIDE, SIDE], a: WEIGHT, b: WEIGHT + 1, c: 0 },
  };
  const model: Model = {
    program: {
      inputCodec: "int16s",
      outputCodec: "int16s",
      inputSize: 1,
      weights: [
        { layout: "plain", type: "bool", dims: [1, SIDE] },
        { layout: "plain", type: "s32", dims: [1, 1] },
      ],
      steps: [input, ...new Array<Step>(MASKS).fill(mask)],
    },
    // Of each two columns one is 7 whatever the input is.
    weights: [Uint8Array.from({ length: SIDE }, (_, i) => i % 2), Uint8Array.of(0, 0, 0, 7)],
  };
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
