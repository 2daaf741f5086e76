/** Causal attention with shared heads of keys and values. */
import type { Operand } from "../../program/form.ts";
import { exponentials, MOST_BYTE, mixedValues, type Scores, type Values } from "../attention.ts";
import { joinedRows } from "../quantized-rows.ts";
import { added } from "../residual.ts";
import { MOST, moved, product, type Wide } from "../steps.ts";
import { type Context, weightsOf } from "./context.ts";
import { type Places, turned } from "./places.ts";
import { normalized } from "./residual.ts";
import type { LayerScales } from "./scales.ts";
import { layerTensor } from "./shape.ts";

export function attention(
  ctx: Context,
  layer: number,
  scales: LayerScales,
  places: Places,
  state: Operand,
): Operand {
  const { builder } = ctx;
  const x = normalized(ctx, state, layerTensor(layer, "attn_norm"), scales.attention);
  // Causality is proven of these: a place that may not be read has 0.
  const shares = exponentials(builder, scoresOf(ctx, layer, scales, places, x), places.allowed);
  const values = valuesOf(ctx, layer, scales, x);
  const mixed = mixedValues(builder, shares, values, ctx.places, scales.mixed / MOST);
  const out = weightsOf(ctx, layerTensor(layer, "attn_output"));
  return added(builder, state, mixed, out, { most: scales.out });
}

/** [shared heads, heads a shared head · places, places] */
function scoresOf(ctx: Context, layer: number, scales: LayerScales, places: Places, x: Wide): Scores {
  const { builder, shape } = ctx;
  const { heads, sharedHeads, headWidth } = shape;
  const share = heads / sharedHeads;
  const weights = joinedRows(
    (["attn_q", "attn_k"] as const).map((name) => weightsOf(ctx, layerTensor(layer, name))),
  );
  const steps = [scales.q, scales.k].map((most) => most / MOST_BYTE) as [number, number];
  const all = heads + sharedHeads;
  const stepOf = (_: unknown, channel: number): number =>
    steps[channel < heads * headWidth ? 0 : 1] as number;
  const stored = turned(ctx, places, x, weights, Array.from({ length: all * headWidth }, stepOf));
  /** Heads from one on, as many for each shared head. */
  const headsFrom = (from: number, count: number): Operand =>
    moved(
      builder,
      stored,
      [sharedHeads, count, ctx.places, headWidth],
      [
        [ctx.places, [[2, 1]]],
        [
          all,
          [
            [0, count],
            [1, 1],
          ],
          from,
        ],
        [headWidth, [[3, 1]]],
      ],
    );
  const rows = [sharedHeads, share * ctx.places] as const;
  const scores = builder.dotActivations(headsFrom(0, share), headsFrom(heads, 1), rows, ctx.places);
  return { scores, unit: (steps[0] * steps[1]) / Math.sqrt(headWidth) };
}

function valuesOf(ctx: Context, layer: number, scales: LayerScales, x: Wide): Values {
  const { builder, shape, places } = ctx;
  const { sharedHeads, headWidth } = shape;
  const steps = scales.v.map((most) => most / MOST_BYTE);
  const values = product(builder, x, weightsOf(ctx, layerTensor(layer, "attn_v")), [places], { unit: steps });
  const columns = moved(
    builder,
    values,
    [sharedHeads, headWidth, places],
    [
      [places, [[2, 1]]],
      [sharedHeads, [[0, 1]]],
      [headWidth, [[1, 1]]],
    ],
  );
  return { columns, steps };
}
