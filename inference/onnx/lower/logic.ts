/** Comparisons, logic and Where, all with broadcasting. */

import type { Operand } from "../../program/form.ts";
import { numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { makeTensor } from "./constants.ts";
import { elementwise } from "./elementwise.ts";
import { folded, knownTensor } from "./fold.ts";
import { intAttribute, type Lowering } from "./lowering.ts";
import { masked } from "./masked.ts";
import { inputsOf } from "./operands.ts";
import { sameScale } from "./shape.ts";
import { type DequantizedValue, dimsOf, type TensorValue, typeOf, type Value } from "./values.ts";

interface Comparison {
  readonly name: "lt" | "le" | "eq";
  readonly swapped: boolean;
  readonly f: (x: number, y: number) => boolean;
}

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  Equal: { name: "eq", swapped: false, f: (x, y) => x === y },
  Greater: { name: "lt", swapped: true, f: (x, y) => x > y },
  GreaterOrEqual: { name: "le", swapped: true, f: (x, y) => x >= y },
  Less: { name: "lt", swapped: false, f: (x, y) => x < y },
  LessOrEqual: { name: "le", swapped: false, f: (x, y) => x <= y },
};

export function compare(ctx: Lowering, node: OnnxNode): Value {
  const values = [ctx.input(node, 0), ctx.input(node, 1)] as const;
  const type = sameType(values);
  const { name, swapped, f } = COMPARISONS[node.op] as Comparison;
  const known = folded(ctx, values, "bool", (x, y) => Number(f(x as number, y as number)));
  if (known !== undefined) return known;
  return elementwise(ctx, values, "bool", ([a = 0, b = 0]) => {
    const [x, y] = swapped ? [b, a] : [a, b];
    return type === "float32" ? ctx.builder.float(name, "bool", x, y) : ctx.builder.arith(name, "bool", x, y);
  });
}

function sameType(values: readonly Value[]): string {
  const [first, ...rest] = values.map(typeOf);
  for (const other of rest)
    if (other !== first) refuse(`it mixes ${first} and ${other}`, "Cast to one type.");
  return first ?? "";
}

const bool = (ctx: Lowering, value: 0 | 1): Operand => ctx.builder.plain("bool", [1], Uint8Array.of(value));
const not = (ctx: Lowering, a: Operand): Operand => ctx.builder.arith("eq", "bool", a, bool(ctx, 0));

interface Logic {
  readonly f: (x: number, y: number) => number;
  readonly emit: (ctx: Lowering, a: Operand, b: Operand) => Operand;
}

const LOGIC: Readonly<Record<string, Logic>> = {
  And: { f: (x, y) => x & y, emit: (ctx, a, b) => ctx.builder.select(a, b, bool(ctx, 0)) },
  Not: { f: (x) => 1 - x, emit: not },
  Or: { f: (x, y) => x | y, emit: (ctx, a, b) => ctx.builder.select(a, bool(ctx, 1), b) },
  Xor: { f: (x, y) => x ^ y, emit: (ctx, a, b) => not(ctx, ctx.builder.arith("eq", "bool", a, b)) },
};

/** And, Not, Or, Xor. */
export function logic(ctx: Lowering, node: OnnxNode): Value {
  const operands = node.op === "Not" ? 1 : 2;
  const values = inputsOf(ctx, node, operands, operands);
  for (const value of values)
    if (typeOf(value) !== "bool") refuse(`its operand is ${typeOf(value)}`, "Use bool.");
  const { f, emit } = LOGIC[node.op] as Logic;
  const known = folded(ctx, values, "bool", (x, y) => f(x as number, y as number));
  return known ?? elementwise(ctx, values, "bool", ([a = 0, b = 0]) => emit(ctx, a, b));
}

const LARGEST = 3.4028234663852886e38;

/** An operand; where a constant is infinite, as in masks, the largest finite number stands for it. */
function finite(ctx: Lowering, node: OnnxNode, input: number): Value {
  const value = ctx.input(node, input);
  if (value.kind !== "constant" || value.tensor.type !== "float32") return value;
  const { dims } = value.tensor;
  const list = numbers(value.tensor);
  const isInfinite = (x: number): boolean => Math.abs(x) === Number.POSITIVE_INFINITY;
  if (!list.some(isInfinite)) return value;
  ctx.notes.push(`${node.name}: ±${LARGEST} stands for the infinite numbers of its input ${input}`);
  const data = list.map((x) => (isInfinite(x) ? Math.sign(x) * LARGEST : x));
  return { kind: "constant", tensor: makeTensor("float32", dims, data) };
}

export function where(ctx: Lowering, node: OnnxNode): Value {
  const condition = ctx.input(node, 0);
  const [yes, no] = [finite(ctx, node, 1), finite(ctx, node, 2)];
  const type = sameType([yes, no]);
  const known = folded(ctx, [condition, yes, no], typeOf(yes), (c, x, y) => (c !== 0 ? x : y) as number);
  if (known !== undefined) return known;
  const select = (x: Value, y: Value): TensorValue =>
    elementwise(ctx, [condition, x, y], typeOf(x), ([c = 0, a = 0, b = 0]) => ctx.builder.select(c, a, b));
  if (type === "float32" && yes.kind === "dequantized" && sameScale(no, yes)) {
    return { ...yes, source: select(yes.source, (no as DequantizedValue).source) };
  }
  return maskedChoice(ctx, condition, [yes, no], () => select(yes, no)) ?? select(yes, no);
}

/** Numbers where a known condition holds, and a constant that leaves nothing elsewhere, or the other way round. */
function maskedChoice(
  ctx: Lowering,
  condition: Value,
  [yes, no]: readonly [Value, Value],
  sum: () => TensorValue,
): Value | undefined {
  const picks = knownTensor(condition);
  const [first, second] = [knownTensor(yes), knownTensor(no)];
  const other = first ?? second;
  if (picks === undefined || other === undefined || other.data.length !== 1) return undefined;
  const value = first === undefined ? yes : no;
  // Of a number with more axes the result has these, too.
  if (other.dims.length > dimsOf(value).length) return undefined;
  const [instead = 0] = numbers(other);
  const mask = numbers(picks).map((c) => ((c !== 0) === (first === undefined) ? 0 : instead));
  return instead === 0 ? undefined : masked(ctx, value, makeTensor("float32", picks.dims, mask), sum);
}

/** IsNaN, IsInf: import proves that no number is either, so the answer is a comparison that never holds. */
export function isSpecial(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (typeOf(value) !== "float32") refuse(`its operand is ${typeOf(value)}`, "Use float32.");
  const infinities = [
    ...(intAttribute(node, "detect_negative", 1) !== 0 ? [Number.NEGATIVE_INFINITY] : []),
    ...(intAttribute(node, "detect_positive", 1) !== 0 ? [Number.POSITIVE_INFINITY] : []),
  ];
  const known = folded(ctx, [value], "bool", (x = 0) =>
    Number(node.op === "IsNaN" ? Number.isNaN(x) : infinities.includes(x)),
  );
  if (known !== undefined) return known;
  return elementwise(ctx, [value], "bool", ([x = 0]) => ctx.builder.float("lt", "bool", x, x));
}
