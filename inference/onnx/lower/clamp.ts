/** Clip and Relu: bounds that become clamps of a requantization, entries of a table, or steps. */

import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { makeTensor } from "./constants.ts";
import { chain } from "./elementwise.ts";
import { folded } from "./fold.ts";
import { floatAttribute, type Lowering, scalar } from "./lowering.ts";
import { mapThrough } from "./maps.ts";
import { constantReal, wideIntegers } from "./quantize.ts";
import { type ScaledValue, typeOf, type Value } from "./values.ts";

/** Bounds of Clip and Relu on any type. */
function clampValue(ctx: Lowering, value: Value, low: number | undefined, high: number | undefined): Value {
  if (low === undefined && high === undefined) return value;
  const integers = value.kind === "scaled" ? value : wideIntegers(ctx, value);
  if (integers !== undefined) return clampScaled(integers, low, high);
  // + 0: as FLOAT min and max, which never give −0.
  const bounded = (x: number): number =>
    Math.min(Math.max(x, low ?? x), high ?? Number.POSITIVE_INFINITY) + 0;
  const known = folded(ctx, [value], typeOf(value), bounded) ?? mapThrough(ctx, value, bounded);
  if (known !== undefined) return known;
  let result: Value = value;
  const bound = (name: "max" | "min", limit: number | undefined): void => {
    if (limit === undefined) return;
    const tensor = makeTensor(typeOf(value), [], [limit]);
    result = chain(ctx, [result, { kind: "constant", tensor }], name);
  };
  bound("max", low);
  bound("min", high);
  return result;
}

function clampScaled(value: ScaledValue, low: number | undefined, high: number | undefined): ScaledValue {
  // Clip(x, low, high) = min(max(x, low), high): the later bound wins where they cross.
  let bounds = { low: value.low, high: value.high };
  if (low !== undefined) bounds = { low: Math.max(bounds.low, low), high: Math.max(bounds.high, low) };
  if (high !== undefined) bounds = { low: Math.min(bounds.low, high), high: Math.min(bounds.high, high) };
  return { ...value, ...bounds };
}

export function relu(ctx: Lowering, node: OnnxNode): Value {
  return clampValue(ctx, ctx.input(node, 0), 0, undefined);
}

export function clip(ctx: Lowering, node: OnnxNode): Value {
  const bound = (input: number, name: string): number | undefined => {
    if (node.attributes.has(name)) return floatAttribute(node, name, 0);
    const value = ctx.optional(node, input);
    if (value === undefined) return undefined;
    return scalar(value.kind === "dequantized" ? constantReal(value) : ctx.constant(node, input, name), name);
  };
  const [low, high] = [bound(1, "min"), bound(2, "max")];
  // Bounds that leave no number: what reads integers takes an infinite bound for none.
  if (Number.isNaN(low) || low === Number.POSITIVE_INFINITY) refuse(`its min is ${low}`, "Use a finite min.");
  if (Number.isNaN(high) || high === Number.NEGATIVE_INFINITY)
    refuse(`its max is ${high}`, "Use a finite max.");
  return clampValue(ctx, ctx.input(node, 0), low, high);
}
