/** Cast between the types of a program; int64 is held as s32, which import proves wide enough. */

import { ONNX_TYPES, type OnnxNode, type OnnxType } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { typeName } from "../type-names.ts";
import { castConstant } from "./constants.ts";
import { intAttribute, type Lowering } from "./lowering.ts";
import { isWide } from "./quantization.ts";
import { TENSOR_TYPE, type TensorValue, typeOf, type Value } from "./values.ts";

/** Words: a label that is one stays the number of its place. */
const STRING = 8;

export function cast(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const code = intAttribute(node, "to", 0);
  if (code === STRING && value.kind === "tensor" && ctx.words.has(value.operand)) return value;
  const to = (ONNX_TYPES as Readonly<Record<number, OnnxType>>)[code];
  return castValue(ctx, value, to, code);
}

/** Cast to the type of the second operand. */
export function castLike(ctx: Lowering, node: OnnxNode): Value {
  const to = typeOf(ctx.input(node, 1));
  return castValue(ctx, ctx.input(node, 0), to, to);
}

function castValue(ctx: Lowering, value: Value, to: OnnxType | undefined, name: number | string): Value {
  if (to === undefined || isWide(to))
    return refuse(
      `it casts to ${typeof name === "number" ? typeName(name) : name}`,
      "Cast to uint8, int8, int32, int64, float32 or bool.",
    );
  const from = typeOf(value);
  if (value.kind === "constant") return { kind: "constant", tensor: castConstant(value.tensor, to) };
  if (from === to) return value;
  if (value.kind === "picked" && to === "int32" && !value.cast && (from === "int8" || from === "uint8")) {
    return { ...value, cast: true };
  }
  const whole = to === "float32" ? undefined : wholeNumbers(ctx, value);
  const tensor = whole ?? ctx.tensor(value);
  const { builder } = ctx;
  if (tensor.type === TENSOR_TYPE[to]) return { ...tensor, onnx: to };
  if (to === "bool") return truth(ctx, tensor);
  const type = TENSOR_TYPE[to];
  const operand =
    to === "float32"
      ? builder.float("tofloat", "f32", tensor.operand)
      : from === "float32" && whole === undefined
        ? builder.float("toint", type, tensor.operand)
        : builder.arith("cast", type, tensor.operand);
  return ctx.like(tensor, operand, to);
}

/** Integers up to here are binary32 numbers. */
const EXACT = 2 ** 24;

/** The integers themselves, where a float32 number is one of them and nothing else. */
function wholeNumbers(ctx: Lowering, value: Value): TensorValue | undefined {
  if (value.kind !== "scaled" || value.source.kind !== "tensor") return undefined;
  const isUnit = value.scale.every((scale) => scale * value.factor === 1);
  const isOpen = value.low === Number.NEGATIVE_INFINITY && value.high === Number.POSITIVE_INFINITY;
  const { low, high } = ctx.rangeOf(value.source);
  return isUnit && isOpen && low >= -EXACT && high <= EXACT ? value.source : undefined;
}

/** True for all numbers but 0. */
function truth(ctx: Lowering, tensor: TensorValue): TensorValue {
  const { builder } = ctx;
  const { low, high } = tensor.type === "f32" ? { low: -1, high: 1 } : ctx.rangeOf(tensor);
  if (low >= 0 && high <= 1) return ctx.like(tensor, builder.arith("cast", "bool", tensor.operand), "bool");
  const isZero =
    tensor.type === "f32"
      ? builder.float("eq", "bool", tensor.operand, builder.f32(0))
      : builder.arith("eq", "bool", tensor.operand, builder.s32(0));
  const no = builder.plain("bool", [1], Uint8Array.of(0));
  return ctx.like(tensor, builder.arith("eq", "bool", isZero, no), "bool");
}
