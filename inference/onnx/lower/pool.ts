/** MaxPool: windows along one axis after the other (MOVE), the maximum of each (REDUCE). */

import { coordinates } from "../axes.ts";
import type { ReduceName } from "../builder.ts";
import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { intAttribute, intsAttribute, type Lowering } from "./lowering.ts";
import { isWide, LIMITS } from "./quantization.ts";
import { reduceAxes, reduceRows } from "./rows.ts";
import { structural } from "./shape.ts";
import { dimsOf, type TensorValue, type Value } from "./values.ts";
import { spatialAxes, type WindowAxis, windowAxes } from "./windows.ts";

export function maxPool(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const kernel =
    intsAttribute(node, "kernel_shape") ?? refuse("it has no kernel_shape", "Export the model again.");
  if (intAttribute(node, "storage_order", 0) !== 0)
    refuse("its storage_order is not 0", "Use storage_order 0.");
  const axes = windowAxes(node, dimsOf(value).slice(2), kernel);
  return structural(ctx, value, (inner) => pooled(ctx, inner, axes));
}

export function globalMaxPool(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  return structural(ctx, value, (inner) =>
    reduceAxes(ctx, "max", comparable(ctx, inner), spatialAxes(value), true),
  );
}

/** A tensor whose elements can be compared; a dequantized one is pooled before it is dequantized. */
function comparable(ctx: Lowering, value: Value): TensorValue {
  if (value.kind === "constant") refuse("its input is constant", "Compute it at export.");
  const tensor = ctx.tensor(value);
  if (tensor.type === "bool" || (tensor.type === "s32" && !isWide(tensor.onnx))) {
    refuse(`its input is ${tensor.onnx}`, "Pool uint8, int8, uint16, int16 or float32.");
  }
  return tensor;
}

const LEAST_FLOAT = 0xff7fffff;

/** Pads are the least number of the type, as it is stored. */
function pooled(ctx: Lowering, value: Value, axes: readonly WindowAxis[]): TensorValue {
  const tensor = comparable(ctx, value);
  const pad = tensor.type === "f32" ? LEAST_FLOAT : tensor.onnx === "int16" ? LIMITS.s16[0] >>> 0 : 0;
  return axes.reduce((t, window, i) => poolAlong(ctx, t, i + 2, window, "max", pad), tensor);
}

/** Reduces windows along one axis. @param pad stored element outside of the input */
export function poolAlong(
  ctx: Lowering,
  tensor: TensorValue,
  axis: number,
  window: WindowAxis,
  name: ReduceName,
  pad: number,
): TensorValue {
  const { builder } = ctx;
  const order = tensor.layout ?? tensor.dims.map((_, a) => a);
  const at = order.indexOf(axis);
  const dims = [
    ...order.map((a) => (a === axis ? window.output : (tensor.dims[a] as number))),
    window.kernel,
  ];
  const axes = order.map((a, i) => ({
    dim: tensor.dims[a] as number,
    terms:
      i === at
        ? [
            { axis: i, factor: window.stride },
            { axis: order.length, factor: window.dilation },
          ]
        : [{ axis: i, factor: 1 }],
    offset: i === at ? -window.before : 0,
    checked: i === at && window.leaves,
  }));
  const moved = builder.move(tensor.operand, dims, coordinates(axes, dims), { pad });
  const operand = reduceRows(ctx, name, moved, dims.slice(0, -1));
  const result = tensor.dims.map((d, a) => (a === axis ? window.output : d));
  return { ...tensor, operand, type: builder.shape(operand).type, dims: result };
}
