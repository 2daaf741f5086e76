/** What is added to the residual: clamped only where the length of a row could leave s32. */
import { expect, it } from "vitest";
import { added } from "../../../inference/derive/residual.ts";
import { inParts, wide } from "../../../inference/derive/steps.ts";
import { Budget } from "../../../inference/onnx/budget.ts";
import { ProgramBuilder } from "../../../inference/onnx/builder.ts";
import { variantName } from "../../../inference/program/codes.ts";
import type { Step } from "../../../inference/program/form.ts";
import { createRng } from "../../support/rng.ts";

const WIDTH = 576;
const ADDED = 40;

/** Steps and largest size of a residual that products were added to, one after the other.
 *  @param most the largest product that was measured, in each of them */
function residual(most: (at: number) => number | undefined, parts = 1) {
  const rng = createRng(1);
  const builder = new ProgramBuilder("int16s", WIDTH, "words", new Budget(2 ** 40));
  const input = builder.codec("s32", [1, WIDTH], 0);
  const x = wide(builder, inParts(builder, input, [1, WIDTH], parts), [1], 1);
  const weights = {
    length: WIDTH,
    values: Int8Array.from({ length: WIDTH * WIDTH }, () => rng.int(-50, 50)),
    scales: new Float64Array(WIDTH).fill(0.01),
  };
  let state = input;
  for (let at = 0; at < ADDED; at++) state = added(builder, state, x, weights, { parts, most: most(at) });
  const { steps } = builder.model("words").program;
  expect(() => builder.norm(state, 1, [1, 1])).not.toThrow();
  const range = builder.range(state);
  const isClamp = ({ opcode, variant }: Step): boolean => /min|max/.test(`${variantName(opcode, variant)}`);
  return { clamps: steps.filter(isClamp).length, range };
}

it("default: products of unknown size are clamped behind each, from the second one on", () => {
  const { clamps, range } = residual(() => undefined);
  expect(clamps).toBe(2 * (ADDED - 1));
  expect([...range.low, ...range.high]).toEqual([-(2 ** 26), 2 ** 26]);
});

it("behavior: products of a known size are not, as long as the length of a row of all of them fits s32", () => {
  // Up to 2^18 each, in units of 2^-11.
  const { clamps, range } = residual(() => 60);
  expect(clamps).toBe(0);
  expect(Math.max(...range.high)).toBeLessThan(2 ** 15 + ADDED * 2 ** 18);
});

it("behavior: two large ones among them cost one clamp, which leaves room for those that follow", () => {
  const { clamps } = residual((at) => (at === 5 || at === 30 ? 30_000 : 60));
  expect(clamps).toBe(2);
});

it("behavior: the size of a product that is made in parts says nothing of the parts", () => {
  const { clamps, range } = residual(() => 60, 2);
  expect(clamps).toBe(2 * ADDED);
  expect([...range.low, ...range.high]).toEqual([-(2 ** 26), 2 ** 26]);
});
