/** A text classifier of the BERT family as a program of integers: its scores of a text's classes, from the text's first
 *  token. Source: docs/DERIVE.md. */
import { Budget } from "../../onnx/budget.ts";
import { ProgramBuilder } from "../../onnx/builder.ts";
import { fail } from "../../onnx/fail.ts";
import { pruned } from "../../onnx/outputs.ts";
import type { Operand } from "../../program/form.ts";
import { assertValid } from "../../program/validate.ts";
import { ID_OFFSET } from "../../text/ids.ts";
import { type DerivedModel, MOST_PLACES, MOST_WORK, orRefused } from "../derived.ts";
import { embedded } from "../embedding.ts";
import { tensorOf } from "../entries.ts";
import { type Gguf, HALF_UNIT, readRow } from "../gguf.ts";
import { RESIDUAL_BITS } from "../residual.ts";
import { readLayers } from "../scales.ts";
import { product, reshaped } from "../steps.ts";
import { biasesOf, type Context, type Rows, weightsOf } from "./context.ts";
import { layerOf, SCALE_NAMES } from "./layer.ts";
import { normalized } from "./normalize.ts";
import { bertShape, EMBEDDING, HEAD, POSITIONS, weightOf } from "./shape.ts";

/** Most ids of a text. */
export interface TextLength {
  readonly text: number;
}

/** Fraction bits of a score. */
export const SCORE_BITS = 12;

/** @param scales as `readLayers` takes them
 *  @throws GGUF_INVALID, SCALES_INVALID, LENGTHS_INVALID; DERIVATION_REFUSED for weights and scales that do not go together */
export const deriveBert = (file: Gguf, scales: unknown, length: TextLength): DerivedModel =>
  orRefused(() => emitted(file, scales, length));

function emitted(file: Gguf, scales: unknown, { text: places }: TextLength): DerivedModel {
  const shape = bertShape(file);
  const layers = readLayers(scales, SCALE_NAMES, { layers: shape.layers, channels: shape.width });
  const most = Math.min(shape.context, MOST_PLACES);
  if (!Number.isSafeInteger(places) || places < 1 || places > most)
    throw fail(
      "LENGTHS_INVALID",
      `A text of ${places} ids: it has at least 1, and at most the ${most} that the model has places for.`,
      "Choose another length.",
    );
  const builder = new ProgramBuilder("int16s", places, "words", new Budget(MOST_WORK));
  builder.node = "ids";
  const ids = builder.arith("add", "s32", builder.codec("s32", [places, 1], 0), builder.s32(ID_OFFSET));
  const isText = reshaped(builder, builder.arith("lt", "bool", ids, builder.s32(shape.vocabulary)), [
    1,
    places,
  ]);
  const ctx: Context = { builder, file, shape, places, isText };
  builder.node = "embedding";
  let rows: Rows = normalized(ctx, placed(ctx, ids), `${EMBEDDING}_norm`);
  // Of the last layer the first token alone is read.
  for (const [layer, layerScales] of layers.entries())
    rows = layerOf(ctx, layer, layerScales, rows, layer === shape.layers - 1 ? 1 : places);
  builder.node = "scores";
  const result = { unit: 2 ** -SCORE_BITS, bits: 31 };
  const scores = product(builder, rows.x, weightsOf(ctx, HEAD), [1], result, 1, biasesOf(ctx, HEAD));
  const derived = pruned(builder.model("words"), scores, builder.nodes);
  assertValid(derived.model.program);
  return derived;
}

/** The ids' rows of the embedding, with what is added at each place. */
function placed(ctx: Context, ids: Operand): Operand {
  const { builder, file, places, shape } = ctx;
  const { width } = shape;
  const positions = new Int32Array(places * width);
  const row = new Float64Array(width);
  const tensor = tensorOf(file, weightOf(POSITIONS));
  for (let place = 0; place < places; place++) {
    readRow(file, tensor, place, row);
    row.forEach((x, i) => {
      positions[place * width + i] = Math.round(x * HALF_UNIT * 2 ** RESIDUAL_BITS);
    });
  }
  const words = embedded(builder, weightsOf(ctx, EMBEDDING), ids);
  return builder.arith("add", "s32", words, builder.plain("s32", [places, width], positions));
}
