/** The gated part of a layer: SiLU of one product times another, multiplied back to the residual's width. */
import type { Operand } from "../../program/form.ts";
import { added } from "../residual.ts";
import { changedWide, MOST, partsOf, powerOfTwo, product, sizeOf, TABLE_HALF, tabulated } from "../steps.ts";
import { type Context, weightsOf } from "./context.ts";
import { normalized } from "./residual.ts";
import type { LayerScales } from "./scales.ts";
import { layerTensor } from "./shape.ts";

export function gated(ctx: Context, layer: number, scales: LayerScales, state: Operand): Operand {
  const { builder, shape, places } = ctx;
  const { hidden } = shape;
  const x = normalized(ctx, state, layerTensor(layer, "ffn_norm"), scales.mlp);
  const gateUnit = powerOfTwo(scales.gate) / TABLE_HALF;
  const rowsOf = (name: "ffn_gate" | "ffn_up" | "ffn_down") => weightsOf(ctx, layerTensor(layer, name));
  // Beyond 16 bits the table's ends count.
  const ids = product(builder, x, rowsOf("ffn_gate"), [places], {
    ...{ unit: gateUnit, zero: TABLE_HALF, bits: 16 },
  });
  const silu = (x: number) => x / (1 + Math.exp(-x * gateUnit));
  const active = tabulated(builder, ids, silu);
  const upUnit = scales.up / MOST;
  const up = product(builder, x, rowsOf("ffn_up"), [places], { unit: upUnit, bits: 15 });
  const down = rowsOf("ffn_down");
  const parts = partsOf(down);
  const unit = scales.hidden / MOST;
  const factors = [(gateUnit * upUnit) / unit];
  const size = sizeOf(builder, active) * sizeOf(builder, up);
  const dims = [places, parts, hidden / parts];
  const operand = changedWide(builder, active, { by: up }, size, factors, unit, dims);
  return added(builder, state, operand, down, { parts, most: scales.down });
}
