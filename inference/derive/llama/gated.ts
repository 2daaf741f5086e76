/** The gated part of a layer: SiLU of one product times another, multiplied back to the residual's width. */
import type { ProgramBuilder } from "../../onnx/builder.ts";
import type { Operand } from "../../program/form.ts";
import { cutRows } from "../quantized-rows.ts";
import { added } from "../residual.ts";
import {
  clamped,
  inParts,
  MOST,
  partsOf,
  powerOfTwo,
  product,
  type Sums,
  scaled,
  TABLE_HALF,
  tabulated,
  wide,
} from "../steps.ts";
import { type Context, weightsOf } from "./context.ts";
import { normalized } from "./residual.ts";
import type { LayerScales } from "./scales.ts";
import { layerTensor } from "./shape.ts";

export function gated(ctx: Context, layer: number, scales: LayerScales, state: Operand): Operand {
  const { builder, shape, places } = ctx;
  const { hidden } = shape;
  const x = normalized(ctx, state, layerTensor(layer, "ffn_norm"), scales.mlp);
  const gateUnit = powerOfTwo(scales.gate) / TABLE_HALF;
  const gate = product(builder, x, weightsOf(ctx, layerTensor(layer, "ffn_gate")), [places]);
  const ids = inUnits(builder, gate, gateUnit, TABLE_HALF);
  const silu = (x: number) => x / (1 + Math.exp(-x * gateUnit));
  const active = tabulated(builder, ids, silu);
  const upUnit = scales.up / MOST;
  const up = product(builder, x, weightsOf(ctx, layerTensor(layer, "ffn_up")), [places]);
  const kept = clamped(builder, inUnits(builder, up, upUnit), -MOST, MOST);
  const parts = partsOf(hidden);
  const products = inParts(builder, builder.arith("mul", "s32", active, kept), [places, hidden], parts);
  const unit = scales.hidden / MOST;
  const operand = wide(builder, products, [(gateUnit * upUnit) / unit], unit);
  const down = cutRows(weightsOf(ctx, layerTensor(layer, "ffn_down")), parts);
  return added(builder, state, product(builder, operand, down, [places], parts), parts);
}

const inUnits = (builder: ProgramBuilder, { sums, units }: Sums, unit: number, zero = 0): Operand =>
  scaled(
    builder,
    sums,
    units.map((own) => own / unit),
    zero,
  );
