/** Products of two computed tensors, as attention has them: every pair of elements is multiplied (ARITH, of float32 FLOAT;
 *  broadcast) and summed along the inner axis (REDUCE, of float32 by halves). */

import type { Operand } from "../../program/form.ts";
import { broadcastDims } from "../builder.ts";
import { count } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { knownTensor } from "./fold.ts";
import { held, safely } from "./held.ts";
import type { Lowering } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { type ConstantValue, dimsOf, type ScaledValue, type TensorValue, type Value } from "./values.ts";

/** A byte tensor and its zero point, as a number. */
export interface Factor {
  readonly tensor: TensorValue;
  readonly zero: number;
  /** Zero point that the graph computes, in place of `zero`. */
  readonly shift?: Operand;
}

/** `Σ_k (a − zero_a)·(b − zero_b)`, s32, with ONNX MatMul shapes; import proves that no sum leaves s32. */
export function activationProduct(ctx: Lowering, a: Factor, b: Factor): TensorValue {
  const { rows, columns, dims } = pairs(ctx, a.tensor, b.tensor, (operand, isLeft) =>
    centred(ctx, isLeft ? a : b, operand),
  );
  const operand = reduceRows(ctx, "sum", ctx.builder.arith("mul", "s32", rows, columns), dims);
  return { kind: "tensor", operand, type: "s32", onnx: "int32", dims };
}

/** `Σ_k a·b` of float32 with ONNX MatMul shapes. */
export function realProduct(ctx: Lowering, a: Value, b: Value): TensorValue {
  const real = (value: Value): TensorValue | ConstantValue => {
    const tensor = knownTensor(value);
    return tensor === undefined ? ctx.tensor(value) : { kind: "constant", tensor };
  };
  const { rows, columns, dims } = pairs(ctx, real(a), real(b), (operand) => held(ctx, operand));
  const products = safely(ctx, "mul", rows, columns);
  const operand = reduceRows(ctx, "sum", products, dims);
  return { kind: "tensor", operand, type: "f32", onnx: "float32", dims };
}

/** Operands that broadcast to all pairs, [batch…, M, 1, K] and [batch…, 1, N, K], and the product's dims.
 *  @param prepare what the factors need before they are spread */
function pairs(
  ctx: Lowering,
  a: TensorValue | ConstantValue,
  b: TensorValue | ConstantValue,
  prepare: (operand: Operand, isLeft: boolean) => Operand,
): { readonly rows: Operand; readonly columns: Operand; readonly dims: readonly number[] } {
  const [aDims, bDims] = [dimsOf(a), dimsOf(b)];
  if (aDims.length * bDims.length === 0) refuse("an operand is a scalar", "Use Mul.");
  const isVector = bDims.length === 1;
  const [left, right] = [aDims.length === 1 ? [1, ...aDims] : aDims, isVector ? [...bDims, 1] : bDims];
  const [m = 1, k = 1] = left.slice(-2);
  const [inner = 1, n = 1] = right.slice(-2);
  if (inner !== k) refuse(`its inner dims are ${k} and ${inner}`, "Correct the shapes.");
  const [leftBatch, rightBatch] = [left.slice(0, -2), right.slice(0, -2)];
  const batch = broadcastDims([1], leftBatch, rightBatch).slice(
    leftBatch.length + rightBatch.length === 0 ? 1 : 0,
  );
  // Equal batches need one axis only: six axes hold more of those that differ.
  const isSame = leftBatch.join() === rightBatch.join();
  const axes = (own: readonly number[]): readonly number[] => (isSame ? [count(own)] : own);
  const rows = ctx.reshape(prepare(ctx.plain(a), true), [...axes(leftBatch), m, 1, k]);
  const rank = right.length;
  const order = [...right.keys()].slice(0, -2).concat(isVector ? [0] : [rank - 1, rank - 2]);
  const turned = ctx.inLayout(b, order);
  const columns = ctx.reshape(prepare(turned, false), [...axes(rightBatch), 1, n, k]);
  const dims = [...batch, ...(aDims.length === 1 ? [] : [m]), ...(isVector ? [] : [n])];
  return { rows, columns, dims };
}

function centred(ctx: Lowering, { zero, shift }: Factor, operand: Operand): Operand {
  if (shift !== undefined) return ctx.builder.arith("sub", "s32", operand, shift);
  return zero === 0 ? operand : ctx.builder.arith("sub", "s32", operand, ctx.builder.s32(zero));
}

/** The product of two dequantized tensors, which QuantizeLinear requantizes. */
export function scaledProduct(
  ctx: Lowering,
  a: Factor & { readonly scale: number },
  b: Factor & { readonly scale: number },
): ScaledValue {
  const source = activationProduct(ctx, a, b);
  const bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  return { kind: "scaled", source, scale: [b.scale], factor: a.scale, axis: 0, ...bounds, fused: true };
}
