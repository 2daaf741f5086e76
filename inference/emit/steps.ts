/** One step of a program as ONNX nodes that compute the same bytes. Source: docs/EXACT.md, section 3.
 *
 *  Tensors of 1-byte types travel as uint8 in stored form (s8 as value + 128): onnxruntime's u8·s8 products saturate
 *  on some CPUs, u8·u8 products do not. Everything but the products is element-wise. */

import { planeLength } from "../opcodes/planes.ts";
import type { Opcode, Variant } from "../program/codes.ts";
import {
  ARITH_VARIANTS,
  DOT_VARIANTS,
  FLOAT_VARIANTS,
  isPlanes,
  isRatio,
  lastDim,
  NONE,
  REDUCE_VARIANTS,
  rowCount,
  type TensorType,
} from "../program/form.ts";
import type { ChannelParameters } from "../program/weights.ts";
import { dot } from "./dot.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { lookup, table } from "./lookup.ts";
import { move } from "./move.ts";
import { norm } from "./norm.ts";
import { isWhole, numbers, type Place, reshaped, selected, stored } from "./place.ts";
import { changed, planes } from "./planes.ts";
import { ratio } from "./ratio.ts";
import { parametersOf, requantized, shifted, withBiases } from "./requantize.ts";
import { rotated } from "./rotate.ts";

/** The nodes of each opcode. CODEC steps are outside: they are the graph's inputs. */
const EMITTERS: Readonly<Record<Exclude<Opcode, "codec">, (place: Place) => Value>> = {
  move,
  lookup,
  dot,
  requant(place) {
    const { acc, channels } = channelSums(place);
    return requantized(place.graph, acc, channels, DOT_VARIANTS[place.step.variant] as Variant<"dot">);
  },
  rescale(place) {
    if (isRatio(place.step)) return ratio(place);
    const { step, shape } = place;
    const isOfPlanes = isPlanes(step);
    const dims = isOfPlanes ? [rowCount(step.dims), planeLength(step)] : shape(step.a).dims;
    const { acc, channels } = channelSums(place, dims);
    const rescaled = shifted(place.graph, acc, channels);
    return isOfPlanes ? planes(place, rescaled) : rescaled;
  },
  table,
  arith,
  float,
  reduce,
  select(place) {
    const { graph, step, value } = place;
    const condition = graph.cast(value(step.a), "bool");
    return spread(place, selected(place, condition, value(step.b), value(step.c)));
  },
};

/** @throws NotEmittable for content that only the canonical executor computes */
export function emitStep(place: Place): Value {
  const { opcode } = place.step;
  if (opcode === "codec") throw new TypeError("codec steps are the graph's inputs");
  return EMITTERS[opcode](place);
}

/** `a + bias′` of a channelwise step, a changed by operand c where there is one. @param dims in which a's elements are read, default a's own */
function channelSums(
  place: Place,
  dims?: readonly number[],
): { acc: Value; channels: readonly ChannelParameters[] } {
  const { graph, step, value, shape } = place;
  const channels = parametersOf(place);
  const own = shape(step.a).dims;
  const numbers = reshaped(graph, value(step.a), own, dims ?? own);
  const a = step.c === NONE ? numbers : changed(place, numbers, dims ?? own);
  return { acc: withBiases(graph, a, channels), channels };
}

/** int32 numbers saturated to a type, in stored form. */
function saturated(graph: GraphBuilder, value: Value, type: TensorType): Value {
  if (type === "s32") return value;
  if (type === "bool") return graph.cast(graph.cast(value, "bool"), "uint8");
  const [low, high] = type === "u8" ? [0, 255] : [-128, 127];
  return stored(graph, graph.node("Clip", [value, graph.int32(low), graph.int32(high)]), type);
}

const COMPARISONS: Readonly<Record<string, string>> = { lt: "Less", le: "LessOrEqual", eq: "Equal" };
const OPERATORS: Readonly<Record<string, string>> = {
  add: "Add",
  sub: "Sub",
  mul: "Mul",
  div: "Div",
  min: "Min",
  max: "Max",
  sqrt: "Sqrt",
  round: "Round",
};

function arith(place: Place): Value {
  const { graph, step } = place;
  const variant = ARITH_VARIANTS[step.variant] as (typeof ARITH_VARIANTS)[number];
  if (variant === "rotate") return rotated(place);
  const a = numbers(place, step.a);
  if (variant === "cast") return saturated(graph, spread(place, a), step.type);
  const b = numbers(place, step.b);
  const comparison = COMPARISONS[variant];
  if (comparison !== undefined) return graph.cast(spread(place, graph.node(comparison, [a, b])), "uint8");
  if (variant !== "div")
    return saturated(graph, spread(place, graph.node(OPERATORS[variant] as string, [a, b])), step.type);
  // The divisor is never below 1 inside Div: INT_MIN / -1 would kill the process.
  const one = graph.int32(1);
  const quotient = graph.node("Div", [a, graph.node("Max", [b, one])]);
  const result = graph.node("Where", [graph.node("Less", [b, one]), graph.int32(0), quotient]);
  return saturated(graph, spread(place, result), step.type);
}

/** Repeats a value along the output's dims where all its operands are smaller than the output. */
const spread = (place: Place, value: Value): Value =>
  isWhole(place) ? value : place.graph.node("Expand", [value, place.graph.shape(place.step.dims)]);

function float(place: Place): Value {
  const { graph, step, value } = place;
  const variant = FLOAT_VARIANTS[step.variant] as (typeof FLOAT_VARIANTS)[number];
  switch (variant) {
    case "tofloat":
      return spread(place, graph.cast(numbers(place, step.a), "float"));
    case "toint":
      return saturated(graph, spread(place, graph.cast(value(step.a), "int32")), step.type);
    case "dequant": {
      const distance = graph.node("Sub", [numbers(place, step.a), value(step.c)]);
      return spread(place, graph.node("Mul", [graph.cast(distance, "float"), value(step.b)]));
    }
    case "quant": {
      const q = graph.node("Round", [graph.node("Div", [value(step.a), value(step.b)])]);
      // Far outside every zero point's reach, so that Cast never leaves int32.
      const near = graph.node("Min", [graph.node("Max", [q, graph.float(-(2 ** 30))]), graph.float(2 ** 30)]);
      return saturated(
        graph,
        spread(place, graph.node("Add", [graph.cast(near, "int32"), value(step.c)])),
        step.type,
      );
    }
    case "lt":
    case "le":
    case "eq": {
      const result = graph.node(COMPARISONS[variant] as string, [value(step.a), value(step.b)]);
      return graph.cast(spread(place, result), "uint8");
    }
    case "min":
    case "max": {
      // Which zero Min and Max return differs between CPUs; adding +0 makes it +0.
      const result = graph.node(OPERATORS[variant] as string, [value(step.a), value(step.b)]);
      return spread(place, graph.node("Add", [result, graph.float(0)]));
    }
    case "sqrt":
    case "round":
      return spread(place, graph.node(OPERATORS[variant] as string, [value(step.a)]));
    default:
      return spread(place, graph.node(OPERATORS[variant] as string, [value(step.a), value(step.b)]));
  }
}

function reduce(place: Place): Value {
  const { graph, step, value, shape } = place;
  const { dims } = shape(step.a);
  const rows = [rowCount(dims), lastDim(dims)];
  const variant = REDUCE_VARIANTS[step.variant] as (typeof REDUCE_VARIANTS)[number];
  if (variant === "norm") return norm(place, rows);
  if (variant === "sum") {
    const addends = reshaped(graph, numbers(place, step.a), dims, rows);
    const sums = graph.node("ReduceSum", [addends, graph.shape([1])], { keepdims: 1 });
    return reshaped(graph, sums, [rows[0] as number, 1], step.dims);
  }
  // Stored bytes are in the order of their values, so s8 needs no conversion.
  const operator = variant === "min" ? "ReduceMin" : "ReduceMax";
  const result = graph.node(operator, [reshaped(graph, value(step.a), dims, rows)], {
    axes: [1],
    keepdims: 1,
  });
  return reshaped(graph, result, [rows[0] as number, 1], step.dims);
}
