/** LayerNormalization and RMSNormalization of quantized tensors in integers alone: REDUCE norm and RESCALE ratio, in the
 *  place of FLOAT. Source: docs/EXACT.md, section 6. */

import { highest, lowest } from "../../profile/range.ts";
import type { Operand } from "../../program/form.ts";
import type { ChannelParameters } from "../../program/weights.ts";
import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { floatAttribute, intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { alongRows } from "./scale-shift.ts";
import { type DequantizedTensor, type ScaledValue, scaledIntegers } from "./values.ts";
import { fixedPoint, timesPower } from "./wide.ts";

/** Fraction bits of a quotient. */
export const QUOTIENT_BITS = 20;
/** Bits of an integer that holds a normalized number times its gain, with its shift. */
const RESULT_BITS = 24;
/** REDUCE norm takes rows of 8,192 bytes. */
const MOST_NORMALIZED = 2_048;
/** Of the length of a row: so the profile sees it inside s32. */
const MOST_LENGTH = 2 ** 30;
/** Of what is added below the root: k is a u32. */
const MOST_ADDEND = 2 ** 32 - 1;
/** Of the largest operand that epsilon makes coarser: its rounding does not show in 8 bits of its results. */
const LEAST_SIZE = 1_000;

/** Rows of a quantized tensor that are normalized. */
interface Rows {
  /** [rows, n], or the tensor's own dims where these end in n */
  readonly stored: Operand;
  /** dims of one number a row */
  readonly column: readonly number[];
  readonly n: number;
  readonly epsilon: number;
  readonly scale: number;
}

function rowsOf(ctx: Lowering, node: OnnxNode, { source, scale: [scale = 1] }: DequantizedTensor): Rows {
  const { dims } = source;
  const n = count(dims.slice(normalAxis(intAttribute(node, "axis", -1), dims.length)));
  if (n > MOST_NORMALIZED) {
    const next = `Normalize at most ${MOST_NORMALIZED}, or import with --arithmetic float32.`;
    refuse(`it normalizes ${n} elements in integers`, next);
  }
  const shape = dims.at(-1) === n ? dims : [count(dims) / n, n];
  const stored = ctx.reshape(ctx.plain(source), shape);
  const epsilon = floatAttribute(node, "epsilon", Math.fround(1e-5));
  if (!(epsilon >= 0)) refuse(`its epsilon is ${epsilon}`, "Use an epsilon of at least 0.");
  return { stored, column: [...shape.slice(0, -1), 1], n, epsilon, scale };
}

/** `d = n·q − Σq`, which is n times the distance from the mean: the zero point falls out. */
export function integerLayerNormalization(
  ctx: Lowering,
  node: OnnxNode,
  value: DequantizedTensor,
): ScaledValue {
  const { builder } = ctx;
  const rows = rowsOf(ctx, node, value);
  const { stored, column, n } = rows;
  const sums = reduceRows(ctx, "sum", stored, column);
  const distances = builder.arith("sub", "s32", builder.arith("mul", "s32", stored, builder.s32(n)), sums);
  return withGain(ctx, node, value, dividedByLength(ctx, distances, n ** 3, rows), n, 2);
}

/** `d = q − zero`. */
export function integerRmsNormalization(
  ctx: Lowering,
  node: OnnxNode,
  value: DequantizedTensor,
): ScaledValue {
  const { builder } = ctx;
  const rows = rowsOf(ctx, node, value);
  const { stored, n } = rows;
  const distances = builder.arith("sub", "s32", stored, builder.s32(value.zero[0] as number));
  return withGain(ctx, node, value, dividedByLength(ctx, distances, n, rows), n, 1);
}

/** `x·√n / √(Σx² + times·epsilon/scale²)` in units of 2^-20, the root cut to an integer: x are first taken times the power
 *  of two that makes their length, and what is added to it, as large as an operand can be. */
function dividedByLength(
  ctx: Lowering,
  x: Operand,
  times: number,
  { column, n, epsilon, scale }: Rows,
): Operand {
  const { builder } = ctx;
  const range = builder.range(x);
  const size = Math.max(highest(range), -lowest(range));
  const addend = (times * epsilon) / scale ** 2;
  const fits = (bits: number): boolean =>
    Math.sqrt(n) * size * 2 ** bits < MOST_LENGTH && addend * 4 ** bits < MOST_ADDEND;
  let bits = QUOTIENT_BITS;
  while (!fits(bits)) {
    bits -= 1;
    if (bits < 0 && size * 2 ** bits < LEAST_SIZE) {
      refuse(
        `its epsilon ${epsilon} is so far above every variance at the scale ${scale} that integers of 32 bits keep fewer than ${LEAST_SIZE} of ${size} steps`,
        "Use a smaller epsilon or a larger scale, or import with --arithmetic float32.",
      );
    }
  }
  const operand = timesPower(ctx, x, bits);
  const length = builder.norm(operand, Math.max(1, Math.round(addend * 4 ** bits)), column);
  return builder.ratio(operand, length, Math.round(Math.sqrt(n) * 2 ** QUOTIENT_BITS));
}

/** Times input 1, plus input 2 where the node has one, by RESCALE: integers of 24 bits.
 *  @param normal in units of 2^-20, no element above √n @param inputs how many of the two the operator has */
function withGain(
  ctx: Lowering,
  node: OnnxNode,
  { source: { dims } }: DequantizedTensor,
  normal: Operand,
  n: number,
  inputs: 1 | 2,
): ScaledValue {
  const { builder } = ctx;
  const gain = alongRows(ctx, node, 1, n);
  const shift = inputs === 2 ? alongRows(ctx, node, 2, n) : undefined;
  const tensor = (operand: Operand) =>
    ({ kind: "tensor", operand: ctx.reshape(operand, dims), type: "s32", onnx: "int32", dims }) as const;
  if (gain === undefined && shift === undefined) return scaledIntegers(tensor(normal), 2 ** -QUOTIENT_BITS);
  const gains = gain ?? new Array<number>(n).fill(1);
  const shifts = shift ?? new Array<number>(n).fill(0);
  const most = gains.reduce(
    (all, g, i) => Math.max(all, Math.abs(g) * Math.sqrt(n) + Math.abs(shifts[i] ?? 0)),
    0,
  );
  const bits = most === 0 ? 0 : Math.floor(RESULT_BITS - Math.log2(most));
  const size = Math.round(Math.sqrt(n) * 2 ** QUOTIENT_BITS);
  const channels = gains.map(
    (g, i): ChannelParameters =>
      fixedPoint(Math.abs(g) * 2 ** (bits - QUOTIENT_BITS), size, Math.round((shifts[i] ?? 0) * 2 ** bits)),
  );
  // A multiplier has no sign.
  const signs = Int32Array.from(gains, (g) => (g < 0 ? -1 : 1));
  const signed = gains.every((g) => g >= 0)
    ? normal
    : builder.arith("mul", "s32", normal, builder.plain("s32", [n], signs));
  return scaledIntegers(tensor(builder.rescale(signed, channels)), 2 ** -bits);
}
