/** Numbers of 16 bits that are multiplied or divided first: in one step, or in two where it could leave s32. */
import { expect, it } from "vitest";
import { changedWide, MIDDLE, MOST, sizeOf } from "../../../inference/derive/steps.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { ProgramBuilder } from "../../../inference/onnx/builder.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const [ROWS, PARTS, LENGTH] = [3, 2, 4];
const COUNT = ROWS * LENGTH;
const selector = new Uint8Array(4);

/** @param isDivided by one number for each part of a row, which is a row of x @param factor of what is changed */
function computed(rng: Rng, isDivided: boolean, factor: number) {
  const builder = new ProgramBuilder("int16s", 2 * COUNT, "words");
  const dims = isDivided ? [ROWS, PARTS, LENGTH / PARTS] : [ROWS, LENGTH];
  const x = builder.codec("s32", dims, 0);
  const other = builder.codec("s32", isDivided ? [ROWS, PARTS, 1] : dims, COUNT);
  const by = isDivided ? builder.arith("max", "s32", other, builder.s32(1)) : other;
  const multiplier = isDivided ? rng.int(1, 2 ** 15) : undefined;
  const size = sizeOf(builder, x) * (multiplier ?? sizeOf(builder, by));
  const changed = { by, ...(multiplier === undefined ? {} : { multiplier }) };
  changedWide(builder, x, changed, size, [factor], 1, [ROWS, LENGTH]);
  const numbers = Array.from({ length: 2 * COUNT }, () => rng.int(-(2 ** 15), 2 ** 15 - 1));
  const prepared = prepare(builder.model("words"), selector);
  const { data } = prepared.run({ codec: "int16s", int16s: numbers }).at(-1) as { data: Uint8Array };
  const wide = Array.from({ length: COUNT }, (_, i) => {
    const high = 2 * LENGTH * Math.floor(i / LENGTH) + (i % LENGTH);
    return 256 * (data[high] as number) + (data[high + LENGTH] as number) - MIDDLE;
  });
  const exact = wide.map((_, i) => {
    const number = numbers[i] as number;
    const changer = numbers[COUNT + (isDivided ? Math.floor((i * PARTS) / LENGTH) : i)] as number;
    const real = multiplier === undefined ? number * changer : (number * multiplier) / Math.max(1, changer);
    return Math.max(-MOST - 1, Math.min(MOST, real * factor));
  });
  return { wide, exact, steps: prepared.program.steps.length };
}

it.each([false, true])("behavior: both ways give the number that is meant (divided: %s)", (isDivided) => {
  const seen = new Set<number>();
  for (let seed = 0; seed < scaled(300, 3_000, 30_000); seed++) {
    const rng = createRng(seed);
    const factor = 2 ** rng.int(-20, 3) * (1 + rng.int(0, 99) / 100);
    const { wide, exact, steps } = computed(rng, isDivided, factor);
    seen.add(steps);
    // What is changed is rounded before it is scaled.
    const error = Math.max(...wide.map((number, i) => Math.abs(number - (exact[i] as number))));
    expect(error, `seed ${seed}, factor ${factor}`).toBeLessThanOrEqual(0.51 + (isDivided ? factor / 2 : 0));
  }
  expect(seen.size).toBeGreaterThan(1);
});
