/** A language model of the Llama family as a program of integers that reads the answer which a claim states: one causal
 *  pass over prompt and answer gives the choice at each place of the answer. Source: docs/DERIVE.md. */
import { Budget } from "../../onnx/budget.ts";
import { ProgramBuilder } from "../../onnx/builder.ts";
import { fail } from "../../onnx/fail.ts";
import { pruned } from "../../onnx/outputs.ts";
import { MAX_INTERVALS } from "../../profile/range.ts";
import { MAX_REDUCED_LENGTH } from "../../program/check.ts";
import { assertValid } from "../../program/validate.ts";
import { type DerivedModel, MOST_PLACES, MOST_WORK, orRefused } from "../derived.ts";
import { embedded } from "../embedding.ts";
import type { Gguf } from "../gguf.ts";
import { moved } from "../steps.ts";
import { attention } from "./attention.ts";
import { type Context, type Lengths, weightsOf } from "./context.ts";
import { gated } from "./gated.ts";
import { placesOf } from "./places.ts";
import { normalized } from "./residual.ts";
import { readScales } from "./scales.ts";
import { type LlamaShape, llamaShape } from "./shape.ts";
import { chosen, idsOf } from "./text.ts";

/** @param scales as `readScales` takes them
 *  @param only ids that an answer may consist of, in ascending order; absent: all
 *  @throws GGUF_INVALID, SCALES_INVALID, LENGTHS_INVALID, ANSWER_IDS_INVALID; DERIVATION_REFUSED for weights and scales that do not go together;
 *  PROGRAM_INVALID for answers that no output holds */
export const deriveLlama = (
  file: Gguf,
  scales: unknown,
  lengths: Lengths,
  only?: readonly number[],
): DerivedModel => orRefused(() => emitted(file, scales, lengths, only));

function emitted(
  file: Gguf,
  scales: unknown,
  lengths: Lengths,
  only: readonly number[] | undefined,
): DerivedModel {
  const shape = llamaShape(file);
  const { layers, final } = readScales(scales, shape);
  const places = placesFor(lengths, shape);
  checkOnly(only, shape.vocabulary);
  const { prompt, answer } = lengths;
  const builder = new ProgramBuilder("int16s", prompt, "int16s", new Budget(MOST_WORK));
  const ctx: Context = { builder, file, shape, places };
  builder.node = "ids";
  const ids = idsOf(ctx, lengths);
  builder.node = "embedding";
  let state = embedded(builder, weightsOf(ctx, "token_embd.weight"), ids.all);
  builder.node = "places";
  const positions = placesOf(ctx, ids.isText);
  for (const [layer, layerScales] of layers.entries()) {
    builder.node = `layer ${layer} attention`;
    state = attention(ctx, layer, layerScales, positions, state);
    builder.node = `layer ${layer} gated`;
    state = gated(ctx, layer, layerScales, state);
  }
  builder.node = "choice";
  const last = moved(
    builder,
    state,
    [answer, shape.width],
    [
      [places, [[0, 1]], prompt - 1],
      [shape.width, [[1, 1]]],
    ],
  );
  const x = normalized({ ...ctx, places: answer }, last, "output_norm.weight", final);
  const output = chosen(ctx, lengths, x, ids, only);
  const derived = pruned(builder.model("int16s"), output, builder.nodes);
  assertValid(derived.model.program);
  return derived;
}

/** A row of scores is reduced at once, and the proof of causality knows each element of a mask, which has a row for each
 *  place and head that share keys. */
function placesFor({ prompt, answer }: Lengths, { heads, sharedHeads }: LlamaShape): number {
  const places = prompt + answer - 1;
  const most = Math.min(MOST_PLACES, Math.floor(Math.sqrt((MAX_INTERVALS * sharedHeads) / heads)));
  if ([prompt, answer].every((n) => Number.isSafeInteger(n) && n >= 1) && places <= most) return places;
  throw fail(
    "LENGTHS_INVALID",
    `A prompt of ${prompt} and an answer of ${answer} ids: each has at least 1, both together at most ${most + 1}.`,
    "Choose shorter ones.",
  );
}

/** A row of scores is compared at once. */
const MOST_ONLY = MAX_REDUCED_LENGTH;

function checkOnly(only: readonly number[] | undefined, vocabulary: number): void {
  if (only === undefined) return;
  const isId = (id: number, i: number): boolean =>
    Number.isSafeInteger(id) && id >= 0 && id < vocabulary && (i === 0 || id > (only[i - 1] as number));
  const at = only.findIndex((id, i) => !isId(id, i));
  if (only.length >= 1 && only.length <= MOST_ONLY && at === -1) return;
  throw fail(
    "ANSWER_IDS_INVALID",
    `An answer of ${only.length} ids${at === -1 ? "" : `, of which number ${at} is ${only[at]}`}: 1 to ${MOST_ONLY} are chosen among, each below the vocabulary's ${vocabulary} and above the one before it.`,
    "Name the ids that an answer may consist of, in ascending order.",
  );
}
