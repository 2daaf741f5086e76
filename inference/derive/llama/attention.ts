/** Causal attention with shared heads of keys and values. */
import type { Operand } from "../../program/form.ts";
import { type Context, type Wide, weightsOf } from "./context.ts";
import { bytes, channelsOf, clamped, MOST, moved, product, sizeOf, wide } from "./emit.ts";
import { type Places, turned } from "./places.ts";
import { added, normalized } from "./residual.ts";
import type { LayerScales } from "./scales.ts";
import { layerTensor } from "./shape.ts";

const MOST_BYTE = 127;
/** Integers that an exponential is tabulated for, and how far below the row's largest score the last one is: from there
 *  on nothing is left. */
const LAST_STEP = 255;
const REACH = 6.25;
/** Of an exponential. */
const MOST_SHARE = 255;
/** Fraction bits of what is mixed, in steps of a value's bytes. */
const MIXED_BITS = 8;

export function attention(
  ctx: Context,
  layer: number,
  scales: LayerScales,
  places: Places,
  state: Operand,
): Operand {
  const { builder } = ctx;
  const x = normalized(ctx, state, layerTensor(layer, "attn_norm"), scales.attention);
  const shares = sharesOf(ctx, places, scoresOf(ctx, layer, scales, places, x));
  const mixed = mixedValues(ctx, layer, scales, x, shares);
  const out = weightsOf(ctx, layerTensor(layer, "attn_output"));
  return added(ctx, state, product(builder, mixed, out, [ctx.places]));
}

interface Scores {
  /** s32 [shared heads, heads a shared head · places, places] */
  readonly scores: Operand;
  readonly unit: number;
}

function scoresOf(ctx: Context, layer: number, scales: LayerScales, places: Places, x: Wide): Scores {
  const { builder, shape } = ctx;
  const { heads, sharedHeads, headWidth } = shape;
  const share = heads / sharedHeads;
  const both = turned(
    ctx,
    places,
    x,
    (["attn_q", "attn_k"] as const).map((name) => weightsOf(ctx, layerTensor(layer, name))),
  );
  const steps = [scales.q, scales.k].map((most) => most / MOST_BYTE) as [number, number];
  const all = heads + sharedHeads;
  const factors = Array.from(
    { length: all * headWidth },
    (_, i) => both.unit / (i < heads * headWidth ? steps[0] : steps[1]),
  );
  const stored = bytes(builder, both.numbers, factors);
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

/** `round(255 · exp(score − the row's largest))` as u8; 0 where a place may not read another. */
function sharesOf({ builder }: Context, { allowed }: Places, { scores, unit }: Scores): Operand {
  const { dims } = builder.shape(scores);
  const kept = builder.select(allowed, scores, builder.s32(-sizeOf(builder, scores)));
  const most = builder.reduce("max", kept, [...dims.slice(0, -1), 1]);
  const below = builder.arith("sub", "s32", most, kept);
  const channels = channelsOf([(unit * LAST_STEP) / REACH], sizeOf(builder, below));
  const form = { zeroPoint: 0, lower: 0, upper: LAST_STEP };
  const steps = builder.requant(
    below,
    "integer",
    "u8",
    channels.map((channel) => ({ ...channel, ...form })),
  );
  const table = Uint8Array.from({ length: LAST_STEP + 1 }, (_, step) =>
    step === LAST_STEP ? 0 : Math.round(MOST_SHARE * Math.exp((-step * REACH) / LAST_STEP)),
  );
  const nothing = builder.plain("u8", [1], Uint8Array.of(0));
  return builder.select(allowed, builder.table(steps, "u8", table), nothing);
}

/** Values of the places that a place reads, by their shares: [places, width]. */
function mixedValues(ctx: Context, layer: number, scales: LayerScales, x: Wide, shares: Operand): Wide {
  const { builder, shape, places } = ctx;
  const { heads, sharedHeads, headWidth, width } = shape;
  const share = heads / sharedHeads;
  const { sums, units } = product(builder, x, weightsOf(ctx, layerTensor(layer, "attn_v")), [places]);
  const steps = scales.v.map((most) => most / MOST_BYTE);
  const values = bytes(
    builder,
    sums,
    steps.map((step, i) => (units[i] as number) / step),
  );
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
  const rows = [sharedHeads, share * places] as const;
  const weighted = builder.dotActivations(shares, columns, rows, headWidth);
  const total = clamped(builder, builder.reduce("sum", shares, [...rows, 1]), 1, 2 ** 31 - 1);
  const mixed = builder.ratio(weighted, total, 2 ** MIXED_BITS);
  const byPlace = moved(
    builder,
    mixed,
    [places, heads, headWidth],
    [
      [heads, [[1, 1]]],
      [places, [[0, 1]]],
      [headWidth, [[2, 1]]],
    ],
  );
  const flat = moved(
    builder,
    byPlace,
    [places, width],
    [
      [
        places * width,
        [
          [0, width],
          [1, 1],
        ],
      ],
    ],
  );
  const unit = scales.mixed / MOST;
  const factors = Array.from({ length: width }, (_, i) => {
    const channel = Math.floor(i / headWidth / share) * headWidth + (i % headWidth);
    return (steps[channel] as number) / 2 ** MIXED_BITS / unit;
  });
  return wide(builder, flat, factors, unit);
}
