/** Products of two computed tensors, as attention has them. Bytes: DOT activations; below MOST_PAIRS products, and of
 *  float32, every pair of elements is multiplied (ARITH or FLOAT; broadcast) and summed along the inner axis (REDUCE, of
 *  float32 by halves), which the chain can execute. */

import { MAX_ACTIVATIONS_LENGTH } from "../../program/check.ts";
import type { Operand } from "../../program/form.ts";
import { broadcastDims } from "../builder.ts";
import { count } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { knownTensor } from "./fold.ts";
import { held, safely } from "./held.ts";
import type { Lowering } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { type ConstantValue, dimsOf, type TensorValue, type Value } from "./values.ts";

/** A byte tensor and its zero point, as a number. */
export interface Factor {
  readonly tensor: TensorValue;
  readonly zero: number;
  /** Zero point that the graph computes, in place of `zero`. */
  readonly shift?: Operand;
}

/** Most products of bytes that stay pairs where an import does not choose, those of all parts of a product of 16 bits
 *  together. So many fit into a run by which the chain settles, whatever their shape; of twice as many some do not
 *  (test/protocol/chain/execution/pairs.test.ts). */
export const MOST_PAIRS = 1_024;

/** `Σ_k (a − zero_a)·(b − zero_b)`, s32, with ONNX MatMul shapes; import proves that no sum leaves s32.
 *  @param parts products of this size that one product takes, all of them in one run */
export function activationProduct(ctx: Lowering, a: Factor, b: Factor, parts = 1): TensorValue {
  const shape = matrixShape(dimsOf(a.tensor), dimsOf(b.tensor));
  const { batch, leftBatch, rightBatch, m, n, k } = shape;
  const { products } = ctx.options;
  const isDot = products === "auto" ? parts * count(batch) * m * n * k > MOST_PAIRS : products === "dot";
  // Matrices that a batch repeats are rows beside each other, or they are pairs.
  const fits =
    k <= MAX_ACTIVATIONS_LENGTH &&
    count(leftBatch) === count(batch) &&
    sharedMatrices(batch, rightBatch) === count(rightBatch);
  return isDot && fits ? rowProduct(ctx, a, b, shape) : pairProduct(ctx, a, b);
}

interface MatrixShape {
  readonly batch: readonly number[];
  readonly leftBatch: readonly number[];
  readonly rightBatch: readonly number[];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** of the product, as ONNX has them */
  readonly dims: readonly number[];
  /** b is one column */
  readonly isVector: boolean;
}

/** @throws Refusal for shapes that MatMul does not take */
function matrixShape(aDims: readonly number[], bDims: readonly number[]): MatrixShape {
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
  const dims = [...batch, ...(aDims.length === 1 ? [] : [m]), ...(isVector ? [] : [n])];
  return { batch, leftBatch, rightBatch, m, n, k, dims, isVector };
}

/** b with its last two axes exchanged, so that its rows are what a's rows are multiplied with. */
function turnedColumns(ctx: Lowering, b: TensorValue | ConstantValue, isVector: boolean): Operand {
  if (isVector) return ctx.inLayout(b, [0]);
  const rank = dimsOf(b).length;
  return ctx.inLayout(b, [...Array(rank - 2).keys(), rank - 1, rank - 2]);
}

/** By DOT activations: `Σ a·b − zero_b·Σ a − zero_a·Σ b + K·zero_a·zero_b`. */
function rowProduct(ctx: Lowering, a: Factor, b: Factor, shape: MatrixShape): TensorValue {
  const { builder } = ctx;
  const { batch, rightBatch, m, n, k, dims, isVector } = shape;
  const matrices = count(rightBatch);
  const share = (count(batch) * m) / matrices;
  const rows = ctx.reshape(ctx.plain(a.tensor), [matrices, share, k]);
  const right = ctx.reshape(turnedColumns(ctx, b.tensor, isVector), [matrices, n, k]);
  let sum = builder.dotActivations(rows, right, [matrices, share], n);
  const subtract = (x: Operand): void => {
    sum = builder.arith("sub", "s32", sum, x);
  };
  const zeroOf = ({ zero, shift }: Factor): Operand | undefined =>
    shift ?? (zero === 0 ? undefined : builder.s32(zero));
  const [aZero, bZero] = [zeroOf(a), zeroOf(b)];
  if (bZero !== undefined) {
    subtract(builder.arith("mul", "s32", reduceRows(ctx, "sum", rows, [matrices, share, 1]), bZero));
  }
  if (aZero !== undefined) {
    let columns = reduceRows(ctx, "sum", right, [matrices, 1, n]);
    // Σ b − K·zero_b, times zero_a.
    if (bZero !== undefined) {
      columns = builder.arith("sub", "s32", columns, builder.arith("mul", "s32", bZero, builder.s32(k)));
    }
    subtract(builder.arith("mul", "s32", columns, aZero));
  }
  return { kind: "tensor", operand: ctx.reshape(sum, dims), type: "s32", onnx: "int32", dims };
}

/** How many matrices the batch has once those that are the same are counted once: only where the axes that b lacks are
 *  the last ones are the rows that share a matrix beside each other. */
function sharedMatrices(batch: readonly number[], own: readonly number[]): number {
  const aligned = [...new Array<number>(batch.length - own.length).fill(1), ...own];
  const last = aligned.findLastIndex((dim) => dim > 1);
  const isShared = aligned.every((dim, axis) => axis > last || dim === batch[axis]);
  return isShared ? count(aligned) : count(batch);
}

function pairProduct(ctx: Lowering, a: Factor, b: Factor): TensorValue {
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
  const { leftBatch, rightBatch, m, n, k, dims, isVector } = matrixShape(dimsOf(a), dimsOf(b));
  // Equal batches need one axis only: six axes hold more of those that differ.
  const isSame = leftBatch.join() === rightBatch.join();
  const axes = (own: readonly number[]): readonly number[] => (isSame ? [count(own)] : own);
  const rows = ctx.reshape(prepare(ctx.plain(a), true), [...axes(leftBatch), m, 1, k]);
  const turned = turnedColumns(ctx, b, isVector);
  const columns = ctx.reshape(prepare(turned, false), [...axes(rightBatch), 1, n, k]);
  return { rows, columns, dims };
}

function centred(ctx: Lowering, { zero, shift }: Factor, operand: Operand): Operand {
  if (shift !== undefined) return ctx.builder.arith("sub", "s32", operand, shift);
  return zero === 0 ? operand : ctx.builder.arith("sub", "s32", operand, ctx.builder.s32(zero));
}
