/** DOT, REQUANT and RESCALE. */

import { shiftedSum } from "../../../../inference/opcodes/requantizer.ts";
import { quantum } from "../../../../inference/opcodes/rounding.ts";
import {
  DOT_VARIANTS,
  isStep,
  lastDim,
  type Operand,
  type Tensor,
  type WeightDescriptor,
  weightIndex,
} from "../../../../inference/program/form.ts";
import { floatOfBits } from "../../../../inference/program/tensor.ts";
import { type ChannelParameters, readParameters } from "../../../../inference/program/weights.ts";
import type { Found, Requantization, Term } from "./form.ts";
import { nameOf, type Place, partAt, shapeOf } from "./place.ts";

function parametersOf({ model }: Place, operand: Operand, row: number): ChannelParameters {
  const words = model.weights[weightIndex(operand)] as Uint8Array;
  const { layout, dims } = model.program.weights[weightIndex(operand)] as WeightDescriptor;
  const rowBytes = layout === "dot" ? 32 * (Math.ceil(lastDim(dims) / 32) + 1) : 32;
  return readParameters(words, (row + 1) * rowBytes - 32);
}

/** By the variant of DOT and REQUANT. */
function requantized(variant: number, accumulator: number, parameters: ChannelParameters) {
  const { zeroPoint, lower, upper, multiplier, addend, shift, scaleBits } = parameters;
  const clamp = (q: number): number => Math.min(Math.max(q + zeroPoint, lower), upper);
  if (DOT_VARIANTS[variant] === "integer") {
    const shifted = shiftedSum(accumulator, parameters);
    const requantization: Requantization = {
      form: "integer",
      ...{ multiplier, addend, shift: shift & 63, shifted, zeroPoint, lower, upper },
    };
    return { requantization, stored: clamp(Number(shifted)) };
  }
  const scale = floatOfBits(scaleBits);
  const rounded = quantum(Math.fround(Math.fround(accumulator) * scale));
  const requantization: Requantization = { form: "binary32", scale, rounded, zeroPoint, lower, upper };
  return { requantization, stored: clamp(rounded) };
}

export function dot(place: Place): Found {
  const { step, element, tensors, model } = place;
  const n = lastDim(step.dims);
  const channel = element % n;
  const row = Math.floor(element / n) * step.k + Math.floor((channel * step.k) / n);
  const k = lastDim(shapeOf(place, step.b).dims);
  const parameters = parametersOf(place, step.b, channel);
  const { data } = isStep(step.a) ? (tensors[step.a] as Tensor) : { data: place.constant(step.a) };
  const words = model.weights[weightIndex(step.b)] as Uint8Array;
  const rowBytes = 32 * (Math.ceil(k / 32) + 1);
  let sum = 0;
  const terms = Array.from({ length: k }, (_, i): Term => {
    const activation = data[row * k + i] as number;
    // Each word of a row is byte-reversed.
    const stored = words[channel * rowBytes + (i & ~31) + 31 - (i & 31)] as number;
    const weight = stored - parameters.weightOffset;
    const product = activation * weight;
    sum += product;
    return { activation, weight, product };
  });
  const accumulator = (sum + parameters.bias) | 0;
  const parts = { activationsFrom: nameOf(step.a), row, weightsFrom: nameOf(step.b), channel };
  const found = { ...parts, terms, sum, bias: parameters.bias, accumulator };
  const common = { formula: "row of activations · row of weights + bias", parts: [], dot: found };
  if (DOT_VARIANTS[step.variant] === "s32") return { ...common, stored: accumulator >>> 0 };
  return { ...common, ...requantized(step.variant, accumulator, parameters) };
}

function channelOf(place: Place) {
  const { step, element } = place;
  const rows = shapeOf(place, step.b).dims[0] as number;
  const parameters = parametersOf(place, step.b, rows === 1 ? 0 : element % lastDim(step.dims));
  const part = partAt(place, step.a, element);
  const accumulator = (part.value + parameters.bias) | 0;
  return { parameters, accumulator, common: { parts: [part], accumulator, bias: parameters.bias } };
}

export function requant(place: Place): Found {
  const { parameters, accumulator, common } = channelOf(place);
  const done = requantized(place.step.variant, accumulator, parameters);
  return { formula: "(a + bias), scaled to a byte", ...common, ...done };
}

export function rescale(place: Place): Found {
  const { parameters, accumulator, common } = channelOf(place);
  const { multiplier, addend, shift } = parameters;
  const shifted = shiftedSum(accumulator, parameters);
  return {
    formula: "((a + bias) · M + B) >> S",
    ...common,
    requantization: { form: "rescale", multiplier, addend, shift: shift & 63, shifted },
    stored: Number(BigInt.asUintN(32, shifted)),
  };
}
