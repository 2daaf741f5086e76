/** Products of two computed tensors, as attention has them: every pair of elements is multiplied (ARITH, broadcast) and
 *  summed along the inner axis (REDUCE). */

import type { Operand } from "../../program/form.ts";
import { broadcastDims } from "../builder.ts";
import { count } from "../graph.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import type { ScaledValue, TensorValue } from "./values.ts";

/** A byte tensor and its zero point, as a number. */
export interface Factor {
  readonly tensor: TensorValue;
  readonly zero: number;
  /** Zero point that the graph computes, in place of `zero`. */
  readonly shift?: Operand;
}

/** Dims of a factor as [batch…, M, K], of a vector as [1, K]. */
const matrixDims = (tensor: TensorValue): readonly number[] =>
  tensor.dims.length === 1 ? [1, ...tensor.dims] : tensor.dims;

/** `Σ_k (a − zero_a)·(b − zero_b)`, s32, with ONNX MatMul shapes; import proves that no sum leaves s32. */
export function activationProduct(ctx: Lowering, a: Factor, b: Factor): TensorValue {
  const isVector = b.tensor.dims.length === 1;
  const [left, right] = [matrixDims(a.tensor), isVector ? [...b.tensor.dims, 1] : b.tensor.dims];
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
  const rows = ctx.reshape(centred(ctx, a, ctx.plain(a.tensor)), [...axes(leftBatch), m, 1, k]);
  const rank = right.length;
  const order = [...right.keys()].slice(0, -2).concat(isVector ? [0] : [rank - 1, rank - 2]);
  const turned = ctx.inLayout(b.tensor, order);
  const columns = ctx.reshape(centred(ctx, b, turned), [...axes(rightBatch), 1, n, k]);
  const products = ctx.builder.arith("mul", "s32", rows, columns);
  const dims = [...batch, ...(a.tensor.dims.length === 1 ? [] : [m]), ...(isVector ? [] : [n])];
  const operand = reduceRows(ctx, "sum", products, dims);
  return { kind: "tensor", operand, type: "s32", onnx: "int32", dims };
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
