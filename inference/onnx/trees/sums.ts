/** The sums of an ensemble's trees, in fixed point. */

import type { Operand } from "../../program/form.ts";
import { type ChannelParameters, packDot } from "../../program/weights.ts";
import { coordinates } from "../axes.ts";
import type { Lowering } from "../lower/lowering.ts";
import { PLAIN_CHANNEL } from "../lower/product.ts";
import { reduceRows } from "../lower/rows.ts";
import type { TensorValue } from "../lower/values.ts";
import { columnsOf } from "./columns.ts";
import type { Domain } from "./cuts.ts";
import type { Ensemble } from "./ensemble.ts";
import { type FixedPoint, fixedPoint } from "./fixed-point.ts";
import type { Features } from "./ids.ts";
import { violations } from "./ids.ts";
import { grouped } from "./table.ts";

export interface Sums {
  /** s32 [rows, targets], in units of 2^-scaleBits. */
  readonly tensor: TensorValue;
  readonly scaleBits: number;
  readonly bound: number;
  readonly leaves: number;
}

/** @param most largest scaleBits
 *  @returns the sums, or those of an ensemble that no input changes */
export function sumTrees(
  ctx: Lowering,
  ensemble: Ensemble,
  features: Features,
  domains: readonly Domain[],
  most: number,
): Sums | { readonly constant: readonly number[] } {
  const { builder } = ctx;
  const { rows } = features;
  const { targets } = ensemble;
  const all = columnsOf(ensemble, domains, builder.budget);
  const fixed = fixedPoint(ensemble, all, most);
  const kept = all.flatMap((column, i) => {
    const counts = fixed.counts[i] as Float64Array;
    return counts.some((count) => count !== 0) ? [{ column, counts }] : [];
  });
  if (kept.length === 0) return { constant: fixed.offsets.map((v) => v * 2 ** -fixed.scaleBits) };
  const groups = grouped(
    kept.map(({ column }) => column),
    domains,
    builder.budget,
  );
  const width = groups.reduce((widest, { columns }) => Math.max(widest, columns.length), 0);
  const missed = violations(ctx, features, groups, domains, width);
  // REQUANT clamps to 0..1 and narrows in one step, which on a chain costs less than ARITH's minimum and cast.
  const isMissed = builder.requant(missed, "integer", "u8", [{ ...NOTHING, multiplier: 1, upper: 1 }]);
  const countsOf = new Map(kept.map(({ column, counts }) => [column, counts] as const));
  const digits = digitsOf(kept.map(({ counts }) => counts));
  const weights = weightsOf(
    groups.map(({ columns }) => columns.map((column) => countsOf.get(column) as Float64Array)),
    fixed,
    digits,
    width,
    targets,
  );
  const n = groups.length * targets * digits;
  const packed = builder.weight({ layout: "dot", type: "u8", dims: [n, width] }, weights);
  const parts = builder.dot("s32", "s32", isMissed, packed, groups.length, [rows]);
  const operand = joined(ctx, parts, rows, groups.length, targets, digits);
  return {
    tensor: { kind: "tensor", operand, type: "s32", onnx: "int32", dims: [rows, targets] },
    scaleBits: fixed.scaleBits,
    bound: fixed.bound,
    leaves: all.length,
  };
}

const BASE = 256;

const NOTHING: ChannelParameters = { ...PLAIN_CHANNEL, bias: 0, weightOffset: 0 };

function digitsOf(counts: readonly Float64Array[]): number {
  const most = counts.reduce((largest, row) => Math.max(largest, ...row), 0);
  return most < BASE ? 1 : most < BASE ** 2 ? 2 : 3;
}

/** DOT reads 1 where a leaf is missed, so a digit is taken away there from the sum of all: the weight is −digit, as the
 *  stored byte 255 − digit with the offset 255. */
function weightsOf(
  groups: readonly (readonly Float64Array[])[],
  { offsets }: FixedPoint,
  digits: number,
  width: number,
  targets: number,
): Uint8Array {
  const n = groups.length * targets * digits;
  const bytes = new Uint8Array(n * width).fill(BASE - 1);
  const channels = Array.from({ length: n }, (_, row) => {
    const digit = row % digits;
    const target = Math.floor(row / digits) % targets;
    const group = Math.floor(row / (digits * targets));
    let bias = group === 0 && digit === 0 ? (offsets[target] as number) : 0;
    groups[group]?.forEach((counts, i) => {
      const value = Math.floor((counts[target] as number) / BASE ** digit) % BASE;
      bytes[row * width + i] = BASE - 1 - value;
      bias += value;
    });
    return { ...NOTHING, bias, weightOffset: BASE - 1 };
  });
  return packDot(bytes, width, channels);
}

/** Digits times their powers, over all groups. @param parts [rows, groups · targets · digits] */
function joined(
  ctx: Lowering,
  parts: Operand,
  rows: number,
  groups: number,
  targets: number,
  digits: number,
): Operand {
  const { builder } = ctx;
  if (groups * digits === 1) return parts;
  let all = parts;
  if (digits > 1) {
    const powers = Int32Array.from({ length: groups * targets * digits }, (_, i) => BASE ** (i % digits));
    all = builder.arith("mul", "s32", parts, builder.plain("s32", [powers.length], powers));
  }
  if (groups === 1) {
    return reduceRows(ctx, "sum", ctx.reshape(all, [rows, targets, digits]), [rows, targets]);
  }
  const dims = [rows, targets, groups, digits];
  const axis = (dim: number, at: number) => ({
    dim,
    terms: [{ axis: at, factor: 1 }],
    offset: 0,
    checked: false,
  });
  const axes = [axis(rows, 0), axis(groups, 2), axis(targets, 1), axis(digits, 3)];
  const moved = ctx.reshape(builder.move(all, dims, coordinates(axes, dims)), [
    rows,
    targets,
    groups * digits,
  ]);
  return reduceRows(ctx, "sum", moved, [rows, targets]);
}
