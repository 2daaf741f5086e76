/** Rows of a table that ids choose, in the residual's unit. */
import type { ProgramBuilder } from "../onnx/builder.ts";
import { MAX_ELEMENTS } from "../program/check.ts";
import type { Operand } from "../program/form.ts";
import { type QuantizedRows, rowsBetween, storedValues } from "./quantized-rows.ts";
import { RESIDUAL_BITS } from "./residual.ts";
import { largest, SCORE_ROW, scaled } from "./steps.ts";

/** Of what multiplies a byte. */
const MOST_SCALE = 2 ** 23;

export interface TablePart {
  readonly from: number;
  readonly rows: QuantizedRows;
}

/** Rows of a table in parts, a multiple of SCORE_ROW in each but the last, none larger than a tensor can be. */
export function tableParts(table: QuantizedRows): readonly TablePart[] {
  const rows = table.scales.length;
  const parts = Math.ceil((rows * table.length) / MAX_ELEMENTS);
  const size = Math.ceil(rows / parts / SCORE_ROW) * SCORE_ROW;
  return Array.from({ length: Math.ceil(rows / size) }, (_, i) => ({
    from: i * size,
    rows: rowsBetween(table, i * size, Math.min(rows, (i + 1) * size)),
  }));
}

/** The ids' rows of the table, in the residual's unit. @param ids s32 [places, 1] */
export function embedded(builder: ProgramBuilder, table: QuantizedRows, ids: Operand): Operand {
  const [places] = builder.shape(ids).dims as [number];
  const found = tableParts(table).map(({ from, rows }) => {
    const own = from === 0 ? ids : builder.arith("sub", "s32", ids, builder.s32(from));
    const weights = builder.plain("s8", [rows.scales.length, rows.length], storedValues(rows));
    return { from, values: builder.lookup("pick", own, weights, [places]) };
  });
  const { values } = found.reduce((before, { from, values: own }) => ({
    from,
    values: builder.select(builder.arith("lt", "bool", ids, builder.s32(from)), before.values, own),
  }));
  let bits = 0;
  while (largest(table.scales) * 2 ** (RESIDUAL_BITS + bits + 1) < MOST_SCALE) bits += 1;
  const perOne = 2 ** (RESIDUAL_BITS + bits);
  const scales = Int32Array.from(table.scales, (scale) => Math.round(scale * perOne));
  const scale = builder.lookup("pick", ids, builder.plain("s32", [scales.length, 1], scales), [places]);
  return scaled(builder, builder.arith("mul", "s32", values, scale), [2 ** -bits]);
}
