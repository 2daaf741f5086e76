/** What attention does with scores: shares of the places, and the values mixed by them. */
import type { ProgramBuilder } from "../onnx/builder.ts";
import { refuse } from "../onnx/refusal.ts";
import type { Operand } from "../program/form.ts";
import { changedWide, moved, sizeOf, type Wide } from "./steps.ts";

/** Of queries, keys and values. */
export const MOST_BYTE = 127;
/** How far below the row's largest score nothing is left of an exponential, and the most distances in front of it that one
 *  is tabulated for. */
const REACH = 6.25;
const MOST_STEPS = 2 ** 20;
/** Of an exponential. */
const MOST_SHARE = 255;
/** Fraction bits of what is mixed, in steps of a value's bytes. */
const MIXED_BITS = 8;

export interface Scores {
  /** s32, a row for each query */
  readonly scores: Operand;
  readonly unit: number;
}

/** `round(255 · exp(score − the largest that may be read))` as u8; 0 where a place may not be read.
 *  @param allowed bool, broadcasts to the scores: whether a place may be read */
export function exponentials(builder: ProgramBuilder, { scores, unit }: Scores, allowed: Operand): Operand {
  const last = Math.ceil(REACH / unit);
  if (last > MOST_STEPS)
    refuse(
      `its scores are in steps of ${unit}, so that none is far below another`,
      "Take scales that were measured on these weights.",
    );
  const table = Uint8Array.from({ length: last + 1 }, (_, step) =>
    step === last ? 0 : Math.round(MOST_SHARE * Math.exp(-step * unit)),
  );
  return builder.below(scores, builder.plain("u8", [table.length, 1], table), allowed);
}

/** Bytes of values, [heads of values, channels of a head, places], and what 1 of each channel's stands for. */
export interface Values {
  readonly columns: Operand;
  readonly steps: readonly number[];
}

/** Values of the places that a place reads, by their shares: [queries, width].
 *  @param shares u8 [heads of values, heads that share one · queries, places], of each row one 255 @param unit of the result */
export function mixedValues(
  builder: ProgramBuilder,
  shares: Operand,
  { columns, steps }: Values,
  queries: number,
  unit: number,
): Wide {
  const [sharedHeads, headWidth] = builder.shape(columns).dims as [number, number];
  const rows = builder.shape(shares).dims.slice(0, 2) as [number, number];
  const share = rows[1] / queries;
  const heads = sharedHeads * share;
  const width = heads * headWidth;
  const weighted = builder.dotActivations(shares, columns, rows, headWidth);
  // A row's largest score has the largest share: what is known of the sum bounds what is mixed.
  const total = builder.arith(
    "max",
    "s32",
    builder.reduce("sum", shares, [...rows, 1]),
    builder.s32(MOST_SHARE),
  );
  /** [queries, heads, channels of a head] of what stands by heads first */
  const byPlace = (x: Operand, channels: number): Operand =>
    moved(
      builder,
      x,
      [queries, heads, channels],
      [
        [heads, [[1, 1]]],
        [queries, [[0, 1]]],
        [channels, [[2, 1]]],
      ],
    );
  const multiplier = 2 ** MIXED_BITS;
  const size = Math.ceil((sizeOf(builder, weighted) * multiplier) / MOST_SHARE);
  const factors = Array.from({ length: width }, (_, i) => {
    const channel = Math.floor(i / headWidth / share) * headWidth + (i % headWidth);
    return (steps[channel] as number) / 2 ** MIXED_BITS / unit;
  });
  const dims = [queries, width];
  const byHead = byPlace(weighted, headWidth);
  return changedWide(builder, byHead, { by: byPlace(total, 1), multiplier }, size, factors, unit, dims);
}
