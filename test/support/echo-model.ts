/** Models of one tensor for games: the right run, a wrong one, and what both commit to. */
import { toHex } from "../../base/bytes.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import {
  type Commitment,
  commitModel,
  commitTrace,
  commitWeights,
} from "../../inference/commit/commitments.ts";
import { open, outputRead } from "../../inference/commit/openings.ts";
import { encodePosition } from "../../inference/commit/positions.ts";
import type { Model, Tensor } from "../../inference/program/form.ts";
import { demandDepth } from "../../inference/program/shape.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { TINY_IDENTITY, TINY_MODEL, TINY_SELECTOR } from "./deploy.ts";

export const ALL_LANES = LANE.EXECUTION | LANE.PROOF | LANE.BOND;
export type Side = "right" | "wrong";

/** raw(bytes) of rows of bytes to itself, in one step. */
export function echoModel(rows: number, width: number) {
  const steps = TINY_MODEL.program.steps.map((step) => ({ ...step, dims: [rows, width] }));
  const model: Model = { program: { ...TINY_MODEL.program, inputSize: rows * width, steps }, weights: [] };
  const { program } = model;
  const identity = {
    ...TINY_IDENTITY,
    ...commitModel(model),
    lanes: ALL_LANES,
    vkHash: new Uint8Array(32).fill(7),
  };
  const tensorOf = (data: Uint8Array): Tensor => ({ type: "u8", dims: [rows, width], data });
  const right = Uint8Array.from({ length: rows * width }, (_, i) => i % 251);
  const wrongAt = Math.floor(0.3 * right.length);
  const wrong = right.map((byte, i) => (i === wrongAt ? byte ^ 1 : byte));
  const traces = {
    right: commitTrace(program, [tensorOf(right)]),
    wrong: commitTrace(program, [tensorOf(wrong)]),
  };
  const opened = (trace: Commitment) => {
    const { words, path } = open(outputRead(program, 0, wrongAt), trace, commitWeights(model));
    return { words: words.map(toHex), path: path.map(toHex) };
  };
  return {
    program,
    identity,
    depth: demandDepth(program),
    input: toHex(encodeInput(program, TINY_SELECTOR, { codec: "raw", bytes: right })),
    traces,
    /** The element in which both runs differ, and its word in each trace. */
    wrongAt,
    openings: { right: opened(traces.right), wrong: opened(traces.wrong) },
    outputs: {
      right: toHex(encodeOutput(program, tensorOf(right))),
      wrong: toHex(encodeOutput(program, tensorOf(wrong))),
    },
  };
}

/** 64 rows of 64 bytes: one tensor of height 7, dispute depth 2. */
export const { program, identity: IDENTITY, input: INPUT, traces, outputs } = echoModel(64, 64);
/** Three inside the tensor, two outside. */
export const POSITIONS = [
  { step: 0, level: 7, index: 0 },
  { step: 0, level: 6, index: 0 },
  { step: 0, level: 6, index: 1 },
  { step: 0, level: 6, index: 2 },
  { step: 1, level: 0, index: 0 },
].map(encodePosition);
