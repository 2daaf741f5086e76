/** The gated part of a layer: SiLU of one product times another, multiplied back to the residual's width. */
import type { ProgramBuilder } from "../../onnx/builder.ts";
import { refuse } from "../../onnx/refusal.ts";
import { MAX_DOT_LENGTH } from "../../program/check.ts";
import type { Operand } from "../../program/form.ts";
import { cutRows } from "../quantized-rows.ts";
import { type Context, weightsOf } from "./context.ts";
import { clamped, MOST, product, reshaped, type Sums, scaled, wide } from "./emit.ts";
import { added, normalized } from "./residual.ts";
import type { LayerScales } from "./scales.ts";
import { layerTensor } from "./shape.ts";

/** SiLU is tabulated for 2^16 integers around 0. */
const TABLE_HALF = 2 ** 15;

export function gated(ctx: Context, layer: number, scales: LayerScales, state: Operand): Operand {
  const { builder, shape, places } = ctx;
  const { hidden } = shape;
  const x = normalized(ctx, state, layerTensor(layer, "ffn_norm"), scales.mlp);
  const gateUnit = powerOfTwo(scales.gate) / TABLE_HALF;
  const gate = product(builder, x, weightsOf(ctx, layerTensor(layer, "ffn_gate")), [places]);
  const active = reshaped(builder, activated(ctx, inUnits(builder, gate, gateUnit), gateUnit), [
    places,
    hidden,
  ]);
  const upUnit = scales.up / MOST;
  const up = product(builder, x, weightsOf(ctx, layerTensor(layer, "ffn_up")), [places]);
  const kept = clamped(builder, inUnits(builder, up, upUnit), -MOST, MOST);
  const parts = partsOf(hidden);
  const products = reshaped(builder, builder.arith("mul", "s32", active, kept), [
    places,
    parts,
    hidden / parts,
  ]);
  const unit = scales.hidden / MOST;
  const operand = wide(builder, products, [(gateUnit * upUnit) / unit], unit);
  const down = cutRows(weightsOf(ctx, layerTensor(layer, "ffn_down")), parts);
  return added(ctx, state, product(builder, operand, down, [places], parts), parts);
}

const inUnits = (builder: ProgramBuilder, { sums, units }: Sums, unit: number): Operand =>
  scaled(
    builder,
    sums,
    units.map((own) => own / unit),
  );

/** SiLU of integers in one unit, in that unit, [places · hidden, 1]. */
function activated({ builder, shape: { hidden }, places }: Context, gate: Operand, unit: number): Operand {
  const ids = builder.arith("add", "s32", gate, builder.s32(TABLE_HALF));
  const column = reshaped(builder, clamped(builder, ids, 0, 2 * TABLE_HALF - 1), [places * hidden, 1]);
  const numbers = Int32Array.from({ length: 2 * TABLE_HALF }, (_, id) => {
    const x = (id - TABLE_HALF) * unit;
    return Math.round(x / (1 + Math.exp(-x)) / unit);
  });
  return builder.lookup("pick", column, builder.plain("s32", [numbers.length, 1], numbers), [
    places * hidden,
  ]);
}

/** The least number of equal parts that rows of weights are cut into, so that each is one product. */
function partsOf(length: number): number {
  for (let parts = 1; parts <= length; parts++)
    if (length % parts === 0 && length / parts <= MAX_DOT_LENGTH) return parts;
  return refuse(`its rows of ${length} cannot be cut`, "Take another model.");
}

/** The least power of two that is not below it. */
function powerOfTwo(x: number): number {
  let power = 1;
  while (power < x) power *= 2;
  while (power / 2 >= x) power /= 2;
  return power;
}
