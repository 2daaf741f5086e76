/** Operators of ai.onnx.ml that prepare the features of trees: each is exact, number by number. */

import type { Operand } from "../../program/form.ts";
import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { numbersOf, stringsOf } from "../trees/attributes.ts";
import { makeTensor, storedConstant } from "./constants.ts";
import { elementwise } from "./elementwise.ts";
import { gatherPositions } from "./gather.ts";
import { floatAttribute, intAttribute, type Lowering } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { concatValues, reshapeValue } from "./shape.ts";
import { type ConstantValue, dimsOf, type TensorValue, typeOf, type Value } from "./values.ts";

const f32 = (list: readonly number[]): ConstantValue => ({
  kind: "constant",
  tensor: makeTensor("float32", [list.length], list),
});

/** float32 of a number; integers are rounded to it. */
function real(ctx: Lowering, value: Value): Value {
  if (typeOf(value) === "float32") return value;
  const tensor = ctx.tensor(value);
  return ctx.like(tensor, ctx.builder.float("tofloat", "f32", tensor.operand), "float32");
}

/** One number for all features, or one for each of them. */
function perFeature(node: OnnxNode, name: string, features: number, otherwise: number): ConstantValue {
  const given = numbersOf(node, name);
  const list = given.length === 0 ? [otherwise] : given;
  if (list.length !== 1 && list.length !== features) {
    refuse(`its ${name} has ${list.length} numbers for ${features} features`, "Export the model again.");
  }
  return f32(list);
}

const featuresOf = (value: Value): number => dimsOf(value).at(-1) ?? 1;

/** `(x − offset) · scale`. */
export function scaler(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const features = featuresOf(value);
  const [offset, scale] = [perFeature(node, "offset", features, 0), perFeature(node, "scale", features, 1)];
  const moved = elementwise(ctx, [real(ctx, value), offset], "float32", ([x = 0, o = 0]) =>
    ctx.builder.float("sub", "f32", x, o),
  );
  return elementwise(ctx, [moved, scale], "float32", ([x = 0, s = 0]) =>
    ctx.builder.float("mul", "f32", x, s),
  );
}

/** 1 above the threshold, else 0. */
export function binarizer(ctx: Lowering, node: OnnxNode): Value {
  const threshold = Math.fround(floatAttribute(node, "threshold", 0));
  return elementwise(ctx, [real(ctx, ctx.input(node, 0))], "float32", ([x = 0]) => {
    const { builder } = ctx;
    const isAbove = builder.float("lt", "bool", builder.f32(threshold), x);
    return builder.select(isAbove, builder.f32(1), builder.f32(0));
  });
}

/** Replaces one number. A codec gives no NaN, so that an imputer of those has nothing to do. */
export function imputer(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (typeOf(value) !== "float32") {
    return refuse(`its operand is ${typeOf(value)}`, "Cast it to float32 before it is imputed.");
  }
  const replaced = floatAttribute(node, "replaced_value_float", 0);
  if (Number.isNaN(replaced)) {
    ctx.notes.push(`${ctx.builder.node} imputes NaN, which codec raw reads as 0: give what it would impute`);
    return value;
  }
  const imputed = perFeature(node, "imputed_value_floats", featuresOf(value), 0);
  return elementwise(ctx, [value, imputed], "float32", ([x = 0, v = 0]) => {
    const { builder } = ctx;
    return builder.select(builder.float("eq", "bool", x, builder.f32(Math.fround(replaced))), v, x);
  });
}

/** Columns of the last axis. */
export function arrayFeatureExtractor(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const columns = ctx.numbers(node, 1, "columns");
  const rows = dims.length === 1 ? reshapeValue(ctx, value, [1, ...dims]) : value;
  return gatherPositions(ctx, rows, columns, [columns.length], dimsOf(rows).length - 1);
}

/** [rows, features] of each input beside each other, as float32. */
export function featureVectorizer(ctx: Lowering, node: OnnxNode): Value {
  const given = numbersOf(node, "inputdimensions");
  const parts = node.inputs.map((_, i) => {
    const value = real(ctx, ctx.input(node, i));
    const dims = dimsOf(value);
    const rows = dims.length > 1 ? (dims[0] as number) : 1;
    const features = count(dims) / rows;
    if (given.length > 0 && given[i] !== features) {
      refuse(`its input ${i} has ${features} features, not ${given[i]}`, "Correct the shapes.");
    }
    return reshapeValue(ctx, value, [rows, features]);
  });
  return concatValues(ctx, parts, 1);
}

interface Entries {
  readonly real: boolean;
  readonly list: readonly number[];
}

/** Numbers of the attributes that an operator of older and newer operator sets has for them. */
function entriesOf(node: OnnxNode, role: "keys" | "values"): Entries {
  const [floats, ints] = [numbersOf(node, `${role}_floats`), numbersOf(node, `${role}_int64s`)];
  if (floats.length > 0) return { real: true, list: floats };
  if (ints.length > 0) return { real: false, list: ints };
  return refuse(
    `its ${role} are words or other types`,
    "Encode words as numbers before the model; keys and values of int64 or float32 are read.",
  );
}

/** Place of each number in `keys`, else their count: s32 in the tensor's dims. */
function placeOf(ctx: Lowering, value: Value, keys: Entries): TensorValue {
  const { builder } = ctx;
  if (keys.real !== (typeOf(value) === "float32")) {
    refuse(`it looks ${typeOf(value)} up in keys of ${keys.real ? "float32" : "int64"}`, "Cast it first.");
  }
  const tensor = ctx.plainTensor(value);
  const list = makeTensor(keys.real ? "float32" : "int64", [keys.list.length], keys.list);
  const { type, data } = storedConstant(list);
  const table = builder.plain(type, [keys.list.length], data);
  const column = ctx.reshape(tensor.operand, [count(tensor.dims), 1]);
  const isKey = keys.real
    ? builder.float("eq", "bool", column, table)
    : builder.arith("eq", "bool", column, table);
  const places = builder.plain("s32", [keys.list.length], Int32Array.from(keys.list.keys()));
  const place = builder.select(isKey, places, builder.s32(keys.list.length));
  const operand = reduceRows(ctx, "min", place, [count(tensor.dims)]);
  return { ...tensor, operand: ctx.reshape(operand, tensor.dims), type: "s32", onnx: "int32" };
}

/** The value of an equal key, else the default. */
export function labelEncoder(ctx: Lowering, node: OnnxNode): Value {
  const [keys, values] = [entriesOf(node, "keys"), entriesOf(node, "values")];
  if (keys.list.length !== values.list.length) {
    refuse(`it has ${keys.list.length} keys and ${values.list.length} values`, "Export the model again.");
  }
  const otherwise = values.real
    ? Math.fround(floatAttribute(node, "default_float", -0))
    : intAttribute(node, "default_int64", -1);
  const tensor = placeOf(ctx, ctx.input(node, 0), keys);
  const onnx = values.real ? "float32" : "int64";
  const entries = makeTensor(onnx, [values.list.length + 1, 1], [...values.list, otherwise]);
  const { type, data } = storedConstant(entries);
  const table = ctx.builder.plain(type, [values.list.length + 1, 1], data);
  const ids = ctx.reshape(tensor.operand, [count(tensor.dims), 1]);
  const picked = ctx.builder.lookup("pick", ids, table, [count(tensor.dims)]);
  return { ...tensor, operand: ctx.reshape(picked, tensor.dims), type, onnx };
}

/** 1 at the place of the number among the categories, else 0: a new last axis. */
export function oneHotEncoder(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const categories = numbersOf(node, "cats_int64s");
  if (categories.length === 0 || stringsOf(node, "cats_strings").length > 0) {
    return refuse("its categories are words", "Encode words as numbers before the model.");
  }
  const dims = dimsOf(value);
  if (intAttribute(node, "zeros", 1) === 0) {
    ctx.notes.push(`${ctx.builder.node}: a number that is no category gives zeros; onnxruntime fails on it`);
  }
  const column = reshapeValue(ctx, value, [...dims, 1]);
  const isReal = typeOf(value) === "float32";
  const type = isReal ? "float32" : typeOf(value) === "int64" ? "int64" : "int32";
  const table: ConstantValue = {
    kind: "constant",
    tensor: makeTensor(type, [categories.length], categories),
  };
  return elementwise(ctx, [column, table], "float32", ([x = 0, c = 0]) => {
    const { builder } = ctx;
    const isEqual: Operand = isReal ? builder.float("eq", "bool", x, c) : builder.arith("eq", "bool", x, c);
    return builder.select(isEqual, builder.f32(1), builder.f32(0));
  });
}
