/** Functions of float32 as steps, where their operand is no byte: correctly rounded operations, or cubics from a table. */

import type { Operand } from "../../program/form.ts";
import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { elementwise } from "./elementwise.ts";
import { exponential } from "./exponentials.ts";
import { folded } from "./fold.ts";
import { safely } from "./held.ts";
import { floatAttribute, type Lowering, scalar, stringAttribute } from "./lowering.ts";
import { mapThrough } from "./maps.ts";
import { ERF, NORMAL, SIGMOID, TANH, TANH_NORMAL, type TabulatedFunction, tabulated } from "./tabulated.ts";
import { typeOf, type Value } from "./values.ts";

type RealSteps = (ctx: Lowering, x: Operand, node: OnnxNode) => Operand;

const constant = (ctx: Lowering, value: number): Operand => ctx.builder.f32(Math.fround(value));

/** `max(0, min(1, alpha·x + beta))` */
function hardSigmoid(ctx: Lowering, x: Operand, alpha: number, beta: number): Operand {
  const { builder } = ctx;
  const line = builder.float(
    "add",
    "f32",
    builder.float("mul", "f32", x, constant(ctx, alpha)),
    constant(ctx, beta),
  );
  return builder.float("max", "f32", builder.float("min", "f32", line, constant(ctx, 1)), constant(ctx, 0));
}

/** By operator. Without a table the result is that of onnxruntime but where its compiler joins a product and a sum. */
export const REAL_STEPS: Readonly<Record<string, RealSteps>> = {
  HardSigmoid: (ctx, x, node) =>
    hardSigmoid(ctx, x, floatAttribute(node, "alpha", Math.fround(0.2)), floatAttribute(node, "beta", 0.5)),
  HardSwish: (ctx, x) => ctx.builder.float("mul", "f32", x, hardSigmoid(ctx, x, 1 / 6, 0.5)),
  LeakyRelu: (ctx, x, node) => leaky(ctx, x, constant(ctx, floatAttribute(node, "alpha", 0.01))),
  Softsign: (ctx, x) => {
    const { builder } = ctx;
    const either = builder.float("max", "f32", x, builder.float("mul", "f32", x, constant(ctx, -1)));
    // No size is negative: the second maximum changes nothing, and lets import see it.
    const size = builder.float("max", "f32", either, constant(ctx, 0));
    return builder.float("div", "f32", x, builder.float("add", "f32", size, constant(ctx, 1)));
  },
  Erf: (ctx, x) => tabulated(ctx, x, ERF),
  Exp: exponential,
  FastGelu: (ctx, x) => timesTabulated(ctx, x, TANH_NORMAL),
  Gelu: (ctx, x, node) =>
    timesTabulated(ctx, x, stringAttribute(node, "approximate", "none") === "tanh" ? TANH_NORMAL : NORMAL),
  QuickGelu: (ctx, x, node) => {
    const scaled = safely(ctx, "mul", x, constant(ctx, floatAttribute(node, "alpha", 1.702)));
    return safely(ctx, "mul", x, tabulated(ctx, scaled, SIGMOID));
  },
  Sigmoid: (ctx, x) => tabulated(ctx, x, SIGMOID),
  Tanh: (ctx, x) => tabulated(ctx, x, TANH),
  ThresholdedRelu: (ctx, x, node) => {
    const alpha = constant(ctx, floatAttribute(node, "alpha", 1));
    return ctx.builder.select(ctx.builder.float("lt", "bool", alpha, x), x, constant(ctx, 0));
  },
};

const timesTabulated = (ctx: Lowering, x: Operand, fn: TabulatedFunction): Operand =>
  safely(ctx, "mul", x, tabulated(ctx, x, fn));

function leaky(ctx: Lowering, x: Operand, slope: Operand): Operand {
  const { builder } = ctx;
  const isBelow = builder.float("lt", "bool", x, constant(ctx, 0));
  return builder.select(isBelow, builder.float("mul", "f32", x, slope), x);
}

/** `x < 0 ? slope·x : x` with a slope that broadcasts to x. */
export function pRelu(ctx: Lowering, node: OnnxNode): Value {
  const [value, slope] = [ctx.input(node, 0), ctx.input(node, 1)];
  const type = typeOf(value);
  const f = (x = 0, s = 0): number => (x < 0 ? x * s : x);
  const known = folded(ctx, [value, slope], type, f);
  if (known !== undefined) return known;
  if (type !== "float32") refuse(`its operand is ${type}`, "Use float32.");
  const single =
    slope.kind === "constant" && slope.tensor.data.length === 1 ? scalar(slope.tensor, "slope") : undefined;
  const mapped = single === undefined ? undefined : mapThrough(ctx, value, (x) => f(x, single));
  return mapped ?? elementwise(ctx, [value, slope], type, ([x = 0, s = 0]) => leaky(ctx, x, s));
}
