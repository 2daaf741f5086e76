/** Scales and zero points that are computed from each input, as onnxruntime's quantize_dynamic leaves them. */

import { elementCount, type Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import { emitProduct } from "./product.ts";
import { reduceRows } from "./rows.ts";
import { type Product, type TensorValue, typeOf, type Value } from "./values.ts";

/** Tensors of a smaller range count as 0: their scale would be near the subnormal numbers, which CPUs treat differently. */
const LEAST_RANGE = 2 ** -60;

/** `scale = (max(x, 0) − min(x, 0)) / 255`, or 1 where that is 0; `zero = sat(round(−min / scale))`;
 *  `y = sat(round(x / scale) + zero)`: each operation rounded to binary32. */
export function dynamicQuantizeLinear(ctx: Lowering, node: OnnxNode): readonly Value[] {
  const value = ctx.input(node, 0);
  if (typeOf(value) !== "float32") refuse(`its input is ${typeOf(value)}`, "Quantize float32.");
  const { builder } = ctx;
  const tensor = ctx.tensor(value);
  const elements = elementCount(builder.shape(tensor.operand).dims);
  const zero = builder.f32(0);
  // −min(x) is max(−x): one row of x and one of −x, so that both are found at once.
  const signs = builder.plain("f32", [2, 1], Float32Array.of(1, -1));
  const both = builder.float("mul", "f32", ctx.reshape(tensor.operand, [1, elements]), signs);
  const ends = builder.float("max", "f32", reduceRows(ctx, "max", both, [2, 1]), zero);
  const [most, lift] = [0, 1].map((row) => {
    const axes = [{ dim: 2, terms: [], offset: row, checked: false }];
    return builder.move(ends, [1], coordinates(axes, [1]));
  }) as [Operand, Operand];
  const range = builder.float("add", "f32", most, lift);
  const floor = builder.f32(LEAST_RANGE);
  const quotient = builder.float("div", "f32", builder.float("max", "f32", range, floor), builder.f32(255));
  const isFlat = builder.float("lt", "bool", range, floor);
  const scale = builder.select(isFlat, builder.f32(1), quotient);
  const zeroPoint = builder.float("quant", "u8", lift, scale, builder.s32(0));
  const shift = builder.arith("cast", "s32", zeroPoint);
  const y = builder.float("quant", "u8", tensor.operand, scale, shift);
  return [
    ctx.like(tensor, y, "uint8"),
    { kind: "tensor", operand: scale, type: "f32", onnx: "float32", dims: [] },
    { kind: "tensor", operand: zeroPoint, type: "u8", onnx: "uint8", dims: [] },
  ];
}

/** A zero point of a whole tensor that the graph computes; undefined where it is constant or absent. */
export function computedZero(ctx: Lowering, node: OnnxNode, index: number): Operand | undefined {
  const value = ctx.optional(node, index);
  if (value === undefined || value.kind === "constant") return undefined;
  const { operand, type, dims } = ctx.tensor(value);
  if (type !== "u8" && type !== "s8")
    refuse(`its zero point (input ${index}) is ${typeOf(value)}`, "Use bytes.");
  if (count(dims) !== 1)
    refuse("its activation has a zero point for each row", "Use one zero point for the whole activation.");
  return ctx.reshape(operand, [1]);
}

/** `Σ (a − zero)·w = Σ a·w − zero·Σw`. @param product with the zero point 0 */
export function withComputedZero(ctx: Lowering, product: Product, zero: Operand): TensorValue {
  const { builder } = ctx;
  const sums = product.channels.map(({ weights, offset }) => weights.reduce((sum, w) => sum + w - offset, 0));
  const result = emitProduct(ctx, product);
  const sum = builder.plain("s32", [sums.length], Int32Array.from(sums));
  const excess = builder.arith("mul", "s32", sum, zero);
  return { ...result, operand: builder.arith("sub", "s32", result.operand, excess) };
}
