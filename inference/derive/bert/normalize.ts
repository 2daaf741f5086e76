/** LayerNorm by integers: the mean to the nearest unit, the length exactly. */
import type { Operand } from "../../program/form.ts";
import { NORMAL_BITS, RESIDUAL_BITS } from "../residual.ts";
import { largest, MOST, scaled, wide } from "../steps.ts";
import { biasesOf, type Context, type Rows, vectorOf } from "./context.ts";
import { weightOf } from "./shape.ts";

/** Rows less their mean, divided by their standard deviation, times the gain, plus the bias. @param part that has both */
export function normalized(ctx: Context, state: Operand, part: string): Rows {
  const { builder } = ctx;
  const { width, epsilon } = ctx.shape;
  const [rows] = builder.shape(state).dims as [number, number];
  const centred = builder.arith("sub", "s32", state, meanOf(ctx, state));
  const addend = Math.max(1, Math.round(width * epsilon * 4 ** RESIDUAL_BITS));
  const length = builder.norm(centred, addend, [rows, 1]);
  const normal = builder.ratio(centred, length, Math.round(Math.sqrt(width) * 2 ** NORMAL_BITS));
  const gains = Array.from(vectorOf(ctx, weightOf(part)));
  const biases = Array.from(biasesOf(ctx, part));
  const signs = gains.map((gain) => (gain < 0 ? -1 : 1));
  // No number of a row is more than √width standard deviations from the mean.
  const most = largest(
    gains.map((gain, i) => Math.sqrt(width) * Math.abs(gain) + Math.abs(biases[i] as number)),
  );
  /** In a unit, where a gain is negative with the other sign. */
  const inUnit = (unit: number) => ({
    factors: gains.map((gain) => Math.abs(gain) / unit / 2 ** NORMAL_BITS),
    zeros: biases.map((bias, i) => Math.round(((signs[i] as number) * bias) / unit)),
  });
  const unit = most / MOST;
  const narrow = inUnit(unit);
  const broad = inUnit(2 ** -RESIDUAL_BITS);
  const kept = scaled(builder, normal, broad.factors, broad.zeros);
  return {
    x: { ...wide(builder, normal, narrow.factors, unit, narrow.zeros), signs },
    state: signs.includes(-1) ? builder.arith("mul", "s32", kept, builder.s32(...signs)) : kept,
  };
}

/** s32 [rows, 1] */
function meanOf({ builder, shape: { width } }: Context, state: Operand): Operand {
  const [rows] = builder.shape(state).dims as [number, number];
  return scaled(builder, builder.reduce("sum", state, [rows, 1]), [1 / width]);
}
