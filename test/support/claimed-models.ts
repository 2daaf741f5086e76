/** Models that read the claimed output, built step by step. */
import { runningModelOf, TABLE_ROWS } from "../../conformance/generate/running-model.ts";
import { step } from "../../conformance/generate/small-programs.ts";
import type { Coordinate, Model, OutputCodec, Program, Step } from "../../inference/program/form.ts";

type Weights = readonly { readonly descriptor: Program["weights"][number]; readonly bytes: Uint8Array }[];

const at = (view: number, a = 0, p = 0): Coordinate => ({ view, a, p, b: 0, q: 0, c: 0 });

export const transposed = (
  source: number,
  type: Step["type"],
  [rows, columns]: readonly [number, number],
): Step =>
  step({
    opcode: "move",
    type,
    dims: [columns, rows],
    a: source,
    coordinates: [at(1), at(1), at(rows, 1, 1), at(columns, 1, 0)],
  });

export function modelOf(
  program: Pick<Program, "inputSize" | "steps"> & { readonly outputCodec?: OutputCodec },
  weights: Weights = [],
): Model {
  return {
    program: {
      inputCodec: "raw",
      outputCodec: "raw",
      ...program,
      weights: weights.map(({ descriptor }) => descriptor),
    },
    weights: weights.map(({ bytes }) => bytes),
  };
}

export const plain = (
  dims: readonly number[],
  bytes: Uint8Array,
  type: Step["type"] = "u8",
): Weights[number] => ({ descriptor: { layout: "plain", type, dims }, bytes });

/** The table of `running`: any function will do that every change of an index changes. */
export const TABLE = Uint8Array.from({ length: TABLE_ROWS }, (_, i) => (37 * i + 11) & 255);

/** A token's choice hangs on all before it. */
export const running = (tokens: number, outputCodec: OutputCodec = "raw"): Model =>
  runningModelOf(tokens, TABLE, outputCodec);

/** What `running` is right with. */
export function runningOutput(input: Uint8Array): Uint8Array {
  let last = 0;
  return input.map((x) => {
    last = TABLE[last + x] as number;
    return last;
  });
}
