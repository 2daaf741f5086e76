/** Ids in, the likeliest next ids out. */
import { coordinates, type SourceAxis } from "../../onnx/axes.ts";
import type { ProgramBuilder } from "../../onnx/builder.ts";
import type { Operand } from "../../program/form.ts";
import { ID_OFFSET, NO_ID } from "../../text/ids.ts";
import { tableParts } from "../embedding.ts";
import { chosenRows, type QuantizedRows } from "../quantized-rows.ts";
import { largest, moved, product, reshaped, SCORE_ROW, type Wide } from "../steps.ts";
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

/** Ids that an answer may consist of, in rows that are compared at once. */
interface Candidates {
  readonly ids: Int32Array;
  readonly rows: QuantizedRows;
  readonly perRow: number;
}

/** @param only ids in ascending order; absent: the whole vocabulary */
function candidatesOf(table: QuantizedRows, only: readonly number[] | undefined): readonly Candidates[] {
  if (only !== undefined) {
    return [{ ids: Int32Array.from(only), rows: chosenRows(table, only), perRow: only.length }];
  }
  return tableParts(table).map(({ from, rows }) => ({
    ids: Int32Array.from(rows.scales, (_, i) => from + i),
    rows,
    perRow: SCORE_ROW,
  }));
}

/** The first id with the largest score at each place of the answer; behind the end of the answer nothing.
 *  @param x rows of the places in front of the answer's @param only ids that are chosen among; absent: all */
export function chosen(
  ctx: Context,
  { prompt, answer }: Lengths,
  x: Wide,
  { all }: Ids,
  only?: readonly number[],
): Operand {
  const { builder, shape, places } = ctx;
  const { vocabulary } = shape;
  const candidates = candidatesOf(weightsOf(ctx, shape.head), only);
  const unit = Math.max(...candidates.map(({ rows }) => largest(rows.scales))) * x.unit;
  const parts = candidates.map(({ ids, rows, perRow }) => {
    const scores = product(builder, x, rows, [answer], { unit, bits: 31 });
    const inRows = reshaped(builder, scores, [answer, ids.length / perRow, perRow]);
    return {
      most: builder.reduce("max", inRows, [answer, ids.length / perRow]),
      ids: firstIds(builder, inRows, ids),
    };
  });
  const most = parts
    .map(({ most }) => extreme(builder, "max", most))
    .reduce((a, b) => builder.arith("max", "s32", a, b));
  const first = parts
    .map(({ most: ofRows, ids }) => {
      const isTop = builder.arith("eq", "bool", ofRows, most);
      return extreme(builder, "min", builder.select(isTop, ids, builder.s32(vocabulary)));
    })
    .reduce((a, b) => builder.arith("min", "s32", a, b));
  const before = moved(builder, all, [answer, 1], [[places, [[0, 1]], prompt - 1]]);
  const isOver = builder.arith("eq", "bool", before, builder.s32(shape.end));
  const isEmpty = builder.arith("le", "bool", builder.s32(vocabulary), before);
  const next = builder.arith("sub", "s32", first, builder.s32(ID_OFFSET));
  const open = builder.select(isEmpty, builder.s32(NO_ID), next);
  return builder.select(isOver, builder.s32(NO_ID), open);
}

/** The least or largest number of each row, [rows, 1]. */
function extreme(builder: ProgramBuilder, name: "min" | "max", numbers: Operand): Operand {
  const [rows, length] = builder.shape(numbers).dims as [number, number];
  return length === 1 ? numbers : builder.reduce(name, numbers, [rows, 1]);
}

/** Of each row of scores the first id with its largest one, [answer, rows].
 *  @param scores [answer, rows, columns] @param ids of rows times columns, in ascending order */
function firstIds(builder: ProgramBuilder, scores: Operand, ids: Int32Array): Operand {
  const [answer, rows, columns] = builder.shape(scores).dims as [number, number, number];
  const isTop = builder.below(scores, builder.plain("bool", [2, 1], Uint8Array.of(1, 0)));
  // Bytes, where they can count the columns: this is as large as the scores.
  const type = columns <= 256 ? "u8" : "s32";
  const count = (length: number, first = 0) => {
    const numbers = Array.from({ length }, (_, i) => first + i);
    return builder.plain(type, [length], type === "u8" ? Uint8Array.from(numbers) : Int32Array.from(numbers));
  };
  const [own, last] = [count(columns), count(1, columns - 1)];
  const column = builder.reduce("min", builder.select(isTop, own, last), [answer, rows]);
  const isRun = ids.every((id, i) => id === (ids[0] as number) + i);
  const starts = Int32Array.from(
    { length: rows },
    (_, row) => row * columns + (isRun ? (ids[0] as number) : 0),
  );
  const place = builder.arith("add", "s32", column, builder.plain("s32", [rows], starts));
  return isRun ? place : builder.each(place, builder.plain("s32", [ids.length, 1], ids));
}
