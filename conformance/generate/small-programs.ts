import { NONE, type Program, type Step, WEIGHT } from "../../inference/program/form.ts";

/** A step of a program under test; every field but the opcode's own is neutral. */
export function step(fields: Partial<Step> & Pick<Step, "opcode">): Step {
  return {
    variant: 0,
    type: "s32",
    dims: [1],
    a: NONE,
    b: NONE,
    c: NONE,
    k: 0,
    coordinates: [],
    ...fields,
  };
}

/** A CODEC step of the raw codec. */
export const rawInput = (type: Step["type"], dims: readonly number[], k = 0): Step =>
  step({ opcode: "codec", variant: 4, type, dims, k });

export const rawProgram = (
  inputSize: number,
  steps: readonly Step[],
  weights: Program["weights"] = [],
): Program => ({
  inputCodec: "raw",
  outputCodec: "raw",
  inputSize,
  weights,
  steps,
});

/** The first `count` elements of a tensor as a line. */
export const line = (source: number, type: Step["type"], view: number, count: number): Step =>
  step({
    opcode: "move",
    type,
    dims: [count],
    a: source,
    coordinates: [view, 1, 1, 1].map((size, j) => ({
      view: size,
      a: j === 0 ? 1 : 0,
      p: 0,
      b: 0,
      q: 0,
      c: 0,
    })),
  });

export const weight = (index: number): number => WEIGHT + index;
