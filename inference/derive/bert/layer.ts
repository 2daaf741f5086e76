/** A layer of a classifier: attention to all places of the text, then two products with GELU between them. */
import type { Operand } from "../../program/form.ts";
import { exponentials, MOST_BYTE, mixedValues } from "../attention.ts";
import { joinedRows } from "../quantized-rows.ts";
import { added } from "../residual.ts";
import type { LayerScales } from "../scales.ts";
import {
  inParts,
  largest,
  MOST,
  moved,
  partsOf,
  powerOfTwo,
  product,
  TABLE_HALF,
  tabulated,
  wide,
} from "../steps.ts";
import { biasesOf, type Context, type Rows, weightsOf } from "./context.ts";
import { gelu } from "./gelu.ts";
import { normalized } from "./normalize.ts";
import { layerPart } from "./shape.ts";

/** Largest queries, keys, and numbers that GELU is taken of. */
export const SCALE_NAMES = ["q", "k", "up"] as const;
export type Scales = LayerScales<(typeof SCALE_NAMES)[number]>;

/** @param queries rows that the layer gives: the first ones of the text */
export function layerOf(ctx: Context, layer: number, scales: Scales, rows: Rows, queries: number): Rows {
  const { builder } = ctx;
  builder.node = `layer ${layer} attention`;
  const attended = attention(ctx, layer, scales, rows, queries);
  builder.node = `layer ${layer} feed-forward`;
  return feedForward(ctx, layer, scales, attended, queries);
}

function attention(ctx: Context, layer: number, scales: Scales, { x, state }: Rows, queries: number): Rows {
  const { builder, places, isText } = ctx;
  const { heads, headWidth, width } = ctx.shape;
  const parts = (["attn_q", "attn_k", "attn_v"] as const).map((name) => layerPart(layer, name));
  const weights = joinedRows(parts.map((part) => weightsOf(ctx, part)));
  const biases = parts.flatMap((part) => [...biasesOf(ctx, part)]);
  const [q, k] = [scales.q / MOST_BYTE, scales.k / MOST_BYTE] as const;
  const v = scales.v.map((most) => most / MOST_BYTE);
  const steps = [...new Array<number>(width).fill(q), ...new Array<number>(width).fill(k), ...v];
  const stored = product(builder, x, weights, [places], { unit: steps }, 1, biases);
  /** Channels of one of the three by head. @param isByPlace or by channel */
  const headsOf = (part: number, rows: number, isByPlace: boolean): Operand =>
    moved(builder, stored, isByPlace ? [heads, rows, headWidth] : [heads, headWidth, rows], [
      [places, [[isByPlace ? 1 : 2, 1]]],
      [3 * heads, [[0, 1]], part * heads],
      [headWidth, [[isByPlace ? 2 : 1, 1]]],
    ]);
  const matrix = [heads, queries] as const;
  const scores = builder.dotActivations(headsOf(0, queries, true), headsOf(1, places, true), matrix, places);
  const found = { scores, unit: (q * k) / Math.sqrt(headWidth) };
  const shares = exponentials(builder, found, isText);
  const values = { columns: headsOf(2, places, false), steps: v };
  const mixed = mixedValues(builder, shares, values, queries, largest(scales.v) / MOST);
  const part = layerPart(layer, "attn_output");
  const before =
    queries === places
      ? state
      : moved(
          builder,
          state,
          [queries, width],
          [
            [places, [[0, 1]]],
            [width, [[1, 1]]],
          ],
        );
  const outBiases = biasesOf(ctx, part);
  const sum = added(builder, before, mixed, weightsOf(ctx, part), { biases: outBiases });
  return normalized(ctx, sum, layerPart(layer, "attn_output_norm"));
}

function feedForward(ctx: Context, layer: number, scales: Scales, { x, state }: Rows, queries: number): Rows {
  const { builder, shape } = ctx;
  const { hidden } = shape;
  const [up, down] = [layerPart(layer, "ffn_up"), layerPart(layer, "ffn_down")];
  const unit = powerOfTwo(scales.up) / TABLE_HALF;
  // Beyond 16 bits the table's ends count.
  const result = { unit, zero: TABLE_HALF, bits: 16 };
  const integers = product(builder, x, weightsOf(ctx, up), [queries], result, 1, biasesOf(ctx, up));
  const active = tabulated(builder, integers, (integer) => gelu(integer * unit) / unit);
  const weights = weightsOf(ctx, down);
  const parts = partsOf(weights);
  const operand = wide(builder, inParts(builder, active, [queries, hidden], parts), [1], unit);
  const sum = added(builder, state, operand, weights, { parts, biases: biasesOf(ctx, down) });
  return normalized(ctx, sum, layerPart(layer, "layer_output_norm"));
}
