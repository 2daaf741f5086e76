/** Ids in, the likeliest next ids out. */
import { coordinates, type SourceAxis } from "../../onnx/axes.ts";
import type { ProgramBuilder } from "../../onnx/builder.ts";
import { MAX_ELEMENTS } from "../../program/check.ts";
import type { Operand } from "../../program/form.ts";
import { ID_OFFSET, NO_ID } from "../../text/ids.ts";
import { type QuantizedRows, rowsBetween, storedValues } from "../quantized-rows.ts";
import { type Context, type Lengths, type Wide, weightsOf } from "./context.ts";
import { largest, moved, product, reshaped, scaled } from "./emit.ts";
import { RESIDUAL_BITS } from "./residual.ts";
import { REDUCED } from "./shape.ts";

/** Of what multiplies a byte. */
const MOST_SCALE = 2 ** 23;

export interface Ids {
  /** s32 [places, 1], from 0 on; what is no id is above them */
  readonly all: Operand;
  /** bool [1, places] */
  readonly isText: Operand;
}

/** The prompt, then the answer but its last id. */
export function idsOf({ builder, shape, places }: Context, { prompt, answer }: Lengths): Ids {
  const asked = builder.codec("s32", [prompt, 1], 0);
  const claimed = builder.claimed("s32", [answer, 1]);
  const dims = [places, 1];
  const from = (dim: number, offset: number) => {
    const axis: SourceAxis = { dim, terms: [{ axis: 0, factor: 1 }], offset, checked: true };
    return coordinates([axis], dims);
  };
  const first = builder.move(asked, dims, from(prompt, 0));
  const stored = builder.move(claimed, dims, from(answer, -prompt), { other: first });
  const all = builder.arith("add", "s32", stored, builder.s32(ID_OFFSET));
  const isText = builder.arith("lt", "bool", all, builder.s32(shape.vocabulary));
  return { all, isText: reshaped(builder, isText, [1, places]) };
}

interface Part {
  readonly from: number;
  readonly rows: QuantizedRows;
}

/** Rows of a table in parts, none larger than a tensor can be. */
function partsOf(table: QuantizedRows): readonly Part[] {
  const rows = table.scales.length;
  const parts = Math.ceil((rows * table.length) / MAX_ELEMENTS);
  const size = Math.ceil(rows / parts / REDUCED) * REDUCED;
  return Array.from({ length: Math.ceil(rows / size) }, (_, i) => ({
    from: i * size,
    rows: rowsBetween(table, i * size, Math.min(rows, (i + 1) * size)),
  }));
}

/** The ids' rows of the table, in the residual's unit. */
export function embedded(ctx: Context, { all }: Ids): Operand {
  const { builder, places } = ctx;
  const table = weightsOf(ctx, "token_embd.weight");
  const found = partsOf(table).map(({ from, rows }) => {
    const ids = from === 0 ? all : builder.arith("sub", "s32", all, builder.s32(from));
    const weights = builder.plain("s8", [rows.scales.length, rows.length], storedValues(rows));
    return { from, values: builder.lookup("pick", ids, weights, [places]) };
  });
  const { values } = found.reduce((before, { from, values: own }) => ({
    from,
    values: builder.select(builder.arith("lt", "bool", all, builder.s32(from)), before.values, own),
  }));
  let bits = 0;
  while (largest(table.scales) * 2 ** (RESIDUAL_BITS + bits + 1) < MOST_SCALE) bits += 1;
  const perOne = 2 ** (RESIDUAL_BITS + bits);
  const scales = Int32Array.from(table.scales, (scale) => Math.round(scale * perOne));
  const scale = builder.lookup("pick", all, builder.plain("s32", [scales.length, 1], scales), [places]);
  return scaled(builder, builder.arith("mul", "s32", values, scale), [2 ** -bits]);
}

/** The first id with the largest score at each place of the answer; behind the end of the answer nothing.
 *  @param x rows of the places in front of the answer's */
export function chosen(ctx: Context, { prompt, answer }: Lengths, x: Wide, { all }: Ids): Operand {
  const { builder, shape, places } = ctx;
  const { vocabulary } = shape;
  const table = weightsOf(ctx, shape.head);
  const unit = largest(table.scales) * x.unit;
  const parts = partsOf(table).map(({ from, rows }) => {
    const { sums, units } = product(builder, x, rows, [answer]);
    const scores = scaled(
      builder,
      sums,
      units.map((own) => own / unit),
    );
    return { from, scores: reshaped(builder, scores, [answer, rows.scales.length / REDUCED, REDUCED]) };
  });
  const most = parts
    .map(({ scores }) => extreme(builder, "max", scores))
    .reduce((a, b) => builder.arith("max", "s32", a, b));
  const top = reshaped(builder, most, [answer, 1, 1]);
  const first = parts
    .map(({ from, scores }) => {
      const [, rows = 1] = builder.shape(scores).dims;
      const own = Int32Array.from({ length: rows * REDUCED }, (_, i) => from + i);
      const isTop = builder.arith("eq", "bool", scores, top);
      const ids = builder.select(isTop, builder.plain("s32", [rows, REDUCED], own), builder.s32(vocabulary));
      return extreme(builder, "min", ids);
    })
    .reduce((a, b) => builder.arith("min", "s32", a, b));
  const before = moved(builder, all, [answer, 1], [[places, [[0, 1]], prompt - 1]]);
  const isOver = builder.arith("eq", "bool", before, builder.s32(shape.end));
  const isEmpty = builder.arith("le", "bool", builder.s32(vocabulary), before);
  const next = builder.arith("sub", "s32", first, builder.s32(ID_OFFSET));
  const open = builder.select(isEmpty, builder.s32(NO_ID), next);
  return builder.select(isOver, builder.s32(NO_ID), open);
}

/** The least or largest number of each matrix, [matrices, 1]. */
function extreme(builder: ProgramBuilder, name: "min" | "max", numbers: Operand): Operand {
  const [matrices = 1, rows = 1] = builder.shape(numbers).dims;
  return builder.reduce(name, builder.reduce(name, numbers, [matrices, rows]), [matrices, 1]);
}
