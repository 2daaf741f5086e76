/** Operators that choose by position: Trilu, OneHot, Hardmax. */

import type { OnnxNode, OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { makeTensor } from "./constants.ts";
import { elementwise } from "./elementwise.ts";
import { folded, knownTensor } from "./fold.ts";
import { intAttribute, type Lowering, normalAxis, scalar } from "./lowering.ts";
import { argExtreme } from "./reduce.ts";
import { reshapeValue } from "./shape.ts";
import { dimsOf, typeOf, type Value } from "./values.ts";

const constantOf = (tensor: OnnxTensor): Value => ({ kind: "constant", tensor });

export function trilu(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const [rows = 0, columns = 0] = dimsOf(value).slice(-2);
  if (dimsOf(value).length < 2) refuse(`its input is [${dimsOf(value)}]`, "Use matrices.");
  const shift = ctx.optionalConstant(node, 1, "diagonal");
  const k = shift === undefined ? 0 : scalar(shift, "diagonal");
  const isUpper = intAttribute(node, "upper", 1) !== 0;
  const kept = Array.from({ length: rows * columns }, (_, i) => {
    const distance = (i % columns) - Math.floor(i / columns);
    return Number(isUpper ? distance >= k : distance <= k);
  });
  const mask = constantOf(makeTensor("bool", [rows, columns], kept));
  const type = typeOf(value);
  const zero = constantOf(makeTensor(type, [], [0]));
  const known = folded(ctx, [mask, value, zero], type, (c, x, y) => (c !== 0 ? x : y) as number);
  if (known !== undefined) return known;
  return elementwise(ctx, [mask, value, zero], type, ([c = 0, a = 0, b = 0]) => ctx.builder.select(c, a, b));
}

export function oneHot(ctx: Lowering, node: OnnxNode): Value {
  const ids = ctx.input(node, 0);
  const type = typeOf(ids);
  if (type === "float32" || type === "bool") refuse(`its ids are ${type}`, "Use int32 ids.");
  const depth = scalar(ctx.constant(node, 1, "depth"), "depth");
  const values = ctx.constant(node, 2, "values");
  const [off, on] = [0, 1].map((i) => constantOf(makeTensor(values.type, [], [values.data[i] ?? 0]))) as [
    Value,
    Value,
  ];
  const dims = dimsOf(ids);
  const axis = normalAxis(intAttribute(node, "axis", -1), dims.length + 1);
  if (!Number.isInteger(depth) || depth < 1) refuse(`its depth is ${depth}`, "Use a depth of at least 1.");
  const raised = reshapeValue(ctx, ids, [...dims.slice(0, axis), 1, ...dims.slice(axis)]);
  const along = [depth, ...dims.slice(axis).map(() => 1)];
  // As int32: a byte does not hold every position.
  const at = (from: number): Value =>
    constantOf(
      makeTensor(
        "int32",
        along,
        Array.from({ length: depth }, (_, i) => i + from),
      ),
    );
  // Ids below 0 count from the end: each position has two numbers.
  const equal = (from: number): Value =>
    folded(ctx, [raised, at(from)], "bool", (x, y) => Number(x === y)) ??
    elementwise(ctx, [raised, at(from)], "bool", ([a = 0, b = 0]) => ctx.builder.arith("eq", "bool", a, b));
  const choose = (condition: Value, yes: Value, no: Value): Value =>
    folded(ctx, [condition, yes, no], values.type, (c, x, y) => (c !== 0 ? x : y) as number) ??
    elementwise(ctx, [condition, yes, no], values.type, ([c = 0, a = 0, b = 0]) =>
      ctx.builder.select(c, a, b),
    );
  const isUnsigned = type === "uint8" || type === "uint16";
  const positive = choose(equal(0), on, off);
  return isUnsigned ? positive : choose(equal(-depth), on, positive);
}

/** 1 where a row has its maximum first, 0 elsewhere. */
export function hardmax(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const isOld = ctx.graph.opset < 13;
  const axis = normalAxis(intAttribute(node, "axis", isOld ? 1 : -1), dims.length);
  if (knownTensor(value) !== undefined) refuse("its input is constant", "Compute it at export.");
  // Before operator set 13 all axes from this one on are one.
  const lead = dims.slice(0, axis).reduce((a, b) => a * b, 1);
  const flat = isOld ? reshapeValue(ctx, value, [lead, dims.slice(axis).reduce((a, b) => a * b, 1)]) : value;
  const at = isOld ? 1 : axis;
  const length = dimsOf(flat)[at] as number;
  const top = argExtreme(
    ctx,
    { ...node, op: "ArgMax", attributes: new Map([["axis", { kind: "int", value: at }]]) },
    flat,
  );
  const positions = makeTensor(
    "int64",
    [
      length,
      ...dimsOf(flat)
        .slice(at + 1)
        .map(() => 1),
    ],
    Array.from({ length }, (_, i) => i),
  );
  const one = elementwise(ctx, [top, constantOf(positions)], "float32", ([a = 0, b = 0]) =>
    ctx.builder.float("tofloat", "f32", ctx.builder.arith("eq", "bool", a, b)),
  );
  return reshapeValue(ctx, one, dims);
}
