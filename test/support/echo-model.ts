/** A model of one 4,096-byte tensor for random games: its right run, a wrong one, and what both commit to. */
import { toHex } from "../../inference/bytes.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { commitModel, commitTrace } from "../../inference/commit/commitments.ts";
import { encodePosition } from "../../inference/commit/positions.ts";
import type { Model, Tensor } from "../../inference/program/form.ts";
import { LANE } from "../../protocol/terms.ts";
import { TINY_IDENTITY, TINY_MODEL, TINY_SELECTOR } from "./deploy.ts";

const BYTES = 64 * 64;

/** raw(bytes) of 64 rows of 64 bytes to itself: one tensor of height 7, dispute depth 2. */
export const MODEL: Model = {
  program: {
    ...TINY_MODEL.program,
    inputSize: BYTES,
    steps: TINY_MODEL.program.steps.map((step) => ({ ...step, dims: [64, 64] })),
  },
  weights: [],
};
export const { program } = MODEL;
export const ALL_LANES = LANE.EXECUTION | LANE.PROOF | LANE.BOND;
export const IDENTITY = {
  ...TINY_IDENTITY,
  ...commitModel(MODEL),
  lanes: ALL_LANES,
  vkHash: new Uint8Array(32).fill(7),
};
export const POSITIONS = [
  { step: 0, level: 7, index: 0 },
  { step: 0, level: 6, index: 0 },
  { step: 0, level: 6, index: 1 },
  { step: 0, level: 6, index: 2 },
  { step: 1, level: 0, index: 0 },
].map(encodePosition);

const tensorOf = (data: Uint8Array): Tensor => ({ type: "u8", dims: [64, 64], data });
const RIGHT = Uint8Array.from({ length: BYTES }, (_, i) => i % 251);
const WRONG = RIGHT.map((byte, i) => (i === 1_234 ? byte ^ 1 : byte));
export const INPUT = toHex(encodeInput(program, TINY_SELECTOR, { codec: "raw", bytes: RIGHT }));
export const traces = {
  right: commitTrace(program, [tensorOf(RIGHT)]),
  wrong: commitTrace(program, [tensorOf(WRONG)]),
};
export const outputs = {
  right: toHex(encodeOutput(program, tensorOf(RIGHT))),
  wrong: toHex(encodeOutput(program, tensorOf(WRONG))),
};
export type Side = keyof typeof traces;
