/** BatchNormalization with constant statistics: one factor and one shift a channel. */

import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { makeTensor } from "./constants.ts";
import { elementwise } from "./elementwise.ts";
import { floatAttribute, intAttribute, type Lowering } from "./lowering.ts";
import { type ConstantValue, dimsOf, typeOf, type Value } from "./values.ts";

const PARAMETERS = ["scale", "B", "mean", "var"] as const;

/** `x·f32(g) + f32(b − mean·g)` with `g = scale / sqrt(var + epsilon)` in binary64; the channels are axis 1. */
export function batchNormalization(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  if (typeOf(value) !== "float32") refuse(`its operand is ${typeOf(value)}`, "Use float32.");
  if (intAttribute(node, "training_mode", 0) !== 0) {
    refuse("it is in training mode", "Export the model for inference.");
  }
  const channels = dims[1] ?? 1;
  const [scale, bias, mean, variance] = PARAMETERS.map((what, i) => {
    const { dims: own } = ctx.constant(node, i + 1, what);
    if (count(own) !== channels) refuse(`its ${what} is [${own}] for ${channels} channels`, "Correct it.");
    return ctx.numbers(node, i + 1, what);
  }) as [number[], number[], number[], number[]];
  const epsilon = floatAttribute(node, "epsilon", 1e-5);
  const gains = scale.map((s, c) => s / Math.sqrt((variance[c] as number) + epsilon));
  if (!gains.every(Number.isFinite)) refuse("a variance plus epsilon is not above 0", "Train it again.");
  const shifts = gains.map((g, c) => (bias[c] as number) - (mean[c] as number) * g);
  const along = [channels, ...dims.slice(2).map(() => 1)];
  const perChannel = (list: readonly number[]): ConstantValue => ({
    kind: "constant",
    tensor: makeTensor("float32", along, list.map(normal)),
  });
  const scaled = elementwise(ctx, [value, perChannel(gains)], "float32", ([x = 0, g = 0]) =>
    ctx.builder.float("mul", "f32", x, g),
  );
  return elementwise(ctx, [scaled, perChannel(shifts)], "float32", ([x = 0, b = 0]) =>
    ctx.builder.float("add", "f32", x, b),
  );
}

/** The number, or 0 where binary32 has only a subnormal one. */
const normal = (x: number): number => (Math.abs(x) < 2 ** -126 ? 0 : x);
