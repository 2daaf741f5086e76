/** Ids in, the likeliest next ids out. */
import { coordinates, type SourceAxis } from "../../onnx/axes.ts";
import type { ProgramBuilder } from "../../onnx/builder.ts";
import type { Operand } from "../../program/form.ts";
import { ID_OFFSET, NO_ID } from "../../text/ids.ts";
import { tableParts } from "../embedding.ts";
import { largest, moved, product, reshaped, SCORE_ROW, scaled, type Wide } from "../steps.ts";
import { type Context, type Lengths, weightsOf } from "./context.ts";

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

/** The first id with the largest score at each place of the answer; behind the end of the answer nothing.
 *  @param x rows of the places in front of the answer's */
export function chosen(ctx: Context, { prompt, answer }: Lengths, x: Wide, { all }: Ids): Operand {
  const { builder, shape, places } = ctx;
  const { vocabulary } = shape;
  const table = weightsOf(ctx, shape.head);
  const unit = largest(table.scales) * x.unit;
  const parts = tableParts(table).map(({ from, rows }) => {
    const { sums, units } = product(builder, x, rows, [answer]);
    const scores = scaled(
      builder,
      sums,
      units.map((own) => own / unit),
    );
    return { from, scores: reshaped(builder, scores, [answer, rows.scales.length / SCORE_ROW, SCORE_ROW]) };
  });
  const most = parts
    .map(({ scores }) => extreme(builder, "max", scores))
    .reduce((a, b) => builder.arith("max", "s32", a, b));
  const top = reshaped(builder, most, [answer, 1, 1]);
  const first = parts
    .map(({ from, scores }) => {
      const [, rows = 1] = builder.shape(scores).dims;
      const own = Int32Array.from({ length: rows * SCORE_ROW }, (_, i) => from + i);
      const isTop = builder.arith("eq", "bool", scores, top);
      const ids = builder.select(
        isTop,
        builder.plain("s32", [rows, SCORE_ROW], own),
        builder.s32(vocabulary),
      );
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
