/** A causal program: `y_t = table[y_(t−1) + x_t]` of bytes, with y_(−1) = 0, so that each hangs on all before it. */
import { variantCode } from "../../inference/program/codes.ts";
import type { Coordinate, Model, OutputCodec, Step } from "../../inference/program/form.ts";
import type { Rng } from "./rng.ts";
import { step, weight } from "./small-programs.ts";

/** The sums of two bytes. */
export const TABLE_ROWS = 511;

/** The claimed output, of the last step's type and dims. */
export const claimedOutput = (type: Step["type"], dims: readonly number[]): Step =>
  step({ opcode: "codec", variant: variantCode("codec", "claimed"), type, dims });

const at = (view: number, a = 0, p = 0, c = 0): Coordinate => ({ view, a, p, b: 0, q: 0, c });

/** Rows of a matrix moved along the first axis: row t is the source's row t + by, and 0 where there is none. */
export const shifted = (
  source: number,
  type: Step["type"],
  [rows, columns]: readonly [number, number],
  by: number,
): Step =>
  step({
    opcode: "move",
    type,
    dims: [rows, columns],
    a: source,
    coordinates: [at(1), at(1), at(rows, 1, 0, by), at(columns, 1, 1)],
    k: type === "s8" ? 128 : 0,
  });

export function runningModelOf(tokens: number, table: Uint8Array, outputCodec: OutputCodec): Model {
  const dims = [tokens, 1] as const;
  const steps = [
    step({ opcode: "codec", variant: 4, type: "u8", dims }),
    claimedOutput("u8", dims),
    shifted(1, "u8", dims, -1),
    step({ opcode: "arith", variant: variantCode("arith", "add"), dims, a: 0, b: 2 }),
    step({
      ...{ opcode: "lookup", variant: variantCode("lookup", "pick"), type: "u8" },
      ...{ dims, a: 3, b: weight(0) },
    }),
  ];
  return {
    program: {
      inputCodec: "raw",
      outputCodec,
      inputSize: tokens,
      weights: [{ layout: "plain", type: "u8", dims: [TABLE_ROWS, 1] }],
      steps,
    },
    weights: [table],
  };
}

export const runningModel = (rng: Rng, tokens: number): Model =>
  runningModelOf(tokens, rng.bytes(TABLE_ROWS), rng.pick(["raw", "words"]));
