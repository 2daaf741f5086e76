/** Random programs that read the claimed output. */
import { variantCode } from "../../inference/program/codes.ts";
import { isStep, type Model, type Operand, type Step } from "../../inference/program/form.ts";
import { lastStep } from "../../inference/program/shape.ts";
import { validateProgram } from "../../inference/program/validate.ts";
import { type RandomProgram, randomProgram } from "./random-program.ts";
import type { Rng } from "./rng.ts";

/** Types that a claimed step can have. */
const NUMBERS: readonly Step["type"][] = ["u8", "s8", "s32"];

/** A random program, its first step the claimed output, which about every second operand of its type and dims is now,
 *  and at least one. Nothing says that it is causal. */
export function claimedProgram(rng: Rng): Omit<RandomProgram, "ranges"> {
  for (;;) {
    const random = randomProgram(rng, { hostile: rng.chance(0.5), steps: rng.int(1, 5) });
    const { type, dims } = lastStep(random.model.program);
    if (!NUMBERS.includes(type)) continue;
    const model = withClaimed(rng, random.model, type, dims);
    const isRead = model.program.steps.some(({ a, b, c }) => [a, b, c].includes(0));
    // A claimed output is judged whole, and has to fit for it.
    if (isRead && validateProgram(model.program).length === 0) return { ...random, model };
  }
}

function withClaimed(
  rng: Rng,
  { program, weights }: Model,
  type: Step["type"],
  dims: readonly number[],
): Model {
  const nothing = { a: 0xffff, b: 0xffff, c: 0xffff, k: 0, coordinates: [] };
  const claimed: Step = { opcode: "codec", variant: variantCode("codec", "claimed"), type, dims, ...nothing };
  const fits = (operand: Operand): boolean => {
    const { type: other, dims: others } = program.steps[operand] as Step;
    return other === type && others.join() === dims.join();
  };
  const moved = (operand: Operand): Operand => {
    if (!isStep(operand)) return operand;
    return fits(operand) && rng.chance(0.5) ? 0 : operand + 1;
  };
  const steps = program.steps.map((one) => ({ ...one, a: moved(one.a), b: moved(one.b), c: moved(one.c) }));
  return { program: { ...program, steps: [claimed, ...steps] }, weights };
}
