/** com.microsoft operators that onnxruntime computes differently from CPU to CPU: lowered to one definite form. */

import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { elementwise } from "./elementwise.ts";
import { leakyRelu } from "./functions.ts";
import { floatAttribute, intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { byteMap } from "./number-maps.ts";
import type { ByteQuantization } from "./quantization.ts";
import { applyTable, bytes, quantizationAt, quantizeTensor } from "./quantize.ts";
import { concatValues } from "./shape.ts";
import { dimsOf, type TensorValue, type Value } from "./values.ts";

/** Dequantize both, add (or multiply) in binary32, quantize. */
export function qLinearBinary(ctx: Lowering, node: OnnxNode): Value {
  const operand = (index: number, what: string): Value => {
    const { scale, zero } = quantizationAt(ctx, node, index + 1, what);
    const source = bytes(ctx, ctx.input(node, index));
    return { kind: "dequantized", source, scale: [scale], zero: [zero], axis: 0 };
  };
  const to = quantizationAt(ctx, node, 6, "output");
  const values = [operand(0, "first"), operand(3, "second")];
  const name = node.op === "QLinearAdd" ? "add" : "mul";
  const sum = elementwise(ctx, values, "float32", ([a = 0, b = 0]) => ctx.builder.float(name, "f32", a, b));
  return quantizeTensor(ctx, sum, to);
}

function mapped(
  ctx: Lowering,
  value: Value,
  from: ByteQuantization,
  f: (x: number) => number,
  to: ByteQuantization,
): TensorValue {
  const source = bytes(ctx, value);
  const map = byteMap(source.type === "s8" ? "s8" : "u8", from.scale, from.zero).map((x) =>
    Math.fround(f(x)),
  );
  return applyTable(ctx, source, map, to);
}

export function qLinearFunction(ctx: Lowering, node: OnnxNode): Value {
  const f =
    node.op === "QLinearSigmoid"
      ? (x: number): number => 1 / (1 + Math.exp(-x))
      : leakyRelu(floatAttribute(node, "alpha", 0.01));
  const from = quantizationAt(ctx, node, 1, "input");
  const to = quantizationAt(ctx, node, 3, "output");
  return mapped(ctx, ctx.input(node, 0), from, f, to);
}

export function qLinearConcat(ctx: Lowering, node: OnnxNode): Value {
  const to = quantizationAt(ctx, node, 0, "output");
  const parts: TensorValue[] = [];
  for (let i = 2; i < node.inputs.length; i += 3) {
    const from = quantizationAt(ctx, node, i + 1, `input ${i}`);
    parts.push(mapped(ctx, ctx.input(node, i), from, (x) => x, to));
  }
  const [first] = parts;
  if (first === undefined) return refuse("it joins nothing", "Export the model again.");
  return concatValues(ctx, parts, normalAxis(intAttribute(node, "axis", 0), dimsOf(first).length));
}
