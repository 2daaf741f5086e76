/** DOT, REQUANT and RESCALE. */

import { changedBy, numberDims, planeLength } from "../../../../inference/opcodes/planes.ts";
import { ratio } from "../../../../inference/opcodes/ratio.ts";
import {
  limited,
  MOST_NUMBER,
  numberOf as numberOf16,
  quantum,
  shiftedSum,
} from "../../../../inference/opcodes/rounding.ts";
import {
  DOT_VARIANTS,
  isActivationDot,
  isPlanes,
  isPlanesDot,
  isRatio,
  isStep,
  isSumsDot,
  lastDim,
  NONE,
  type Operand,
  type Step,
  type Tensor,
  type WeightDescriptor,
  weightIndex,
} from "../../../../inference/program/form.ts";
import { floatOfBits } from "../../../../inference/program/tensor.ts";
import { type ChannelParameters, readParameters } from "../../../../inference/program/weights.ts";
import { numberOf } from "../values.ts";
import type { Found, Part, Term } from "./form.ts";
import { LIMITS, nameOf, type Place, partAt, saturated, shapeOf } from "./place.ts";

function parametersOf({ model }: Place, operand: Operand, row: number): ChannelParameters {
  const words = model.weights[weightIndex(operand)] as Uint8Array;
  const { layout, dims } = model.program.weights[weightIndex(operand)] as WeightDescriptor;
  const rowBytes = layout === "dot" ? 32 * (Math.ceil(lastDim(dims) / 32) + 1) : 32;
  return readParameters(words, (row + 1) * rowBytes - 32);
}

/** By the variant of DOT and REQUANT. */
function requantized(
  { variant, type }: Step,
  accumulator: number,
  parameters: ChannelParameters,
): Required<Pick<Found, "requantization" | "stored">> {
  const { zeroPoint, lower, upper, multiplier, addend, shift, scaleBits } = parameters;
  const clamp = (q: number): number => Math.min(Math.max(q + zeroPoint, lower), upper);
  if (type === "s32") {
    const shifted = shiftedSum(accumulator, parameters);
    const kept = { multiplier, addend, shift: shift & 63, shifted, bits: upper & 31 };
    return { requantization: { form: "limited", ...kept }, stored: limited(shifted, upper) >>> 0 };
  }
  if (DOT_VARIANTS[variant] !== "binary32") {
    const shifted = shiftedSum(accumulator, parameters);
    const kept = { multiplier, addend, shift: shift & 63, shifted, zeroPoint, lower, upper };
    return { requantization: { form: "integer", ...kept }, stored: clamp(Number(shifted)) };
  }
  const scale = floatOfBits(scaleBits);
  const rounded = quantum(Math.fround(Math.fround(accumulator) * scale));
  const kept = { scale, rounded, zeroPoint, lower, upper };
  return { requantization: { form: "binary32", ...kept }, stored: clamp(rounded) };
}

export function dot(place: Place): Found {
  return isActivationDot(place.step) ? activationDot(place) : weightDot(place);
}

/** Row ⌊element / N⌋ of a, and of b the row of its matrix. */
function activationDot(place: Place): Found {
  const { step, element } = place;
  const n = lastDim(step.dims);
  const row = Math.floor(element / n);
  const channel = Math.floor(row / step.k) * n + (element % n);
  const [left, right] = [valuesOf(place, step.a, row), valuesOf(place, step.b, channel)];
  const terms = left.map((activation, i): Term => {
    const weight = right[i] as number;
    return { activation, weight, product: activation * weight };
  });
  const sum = terms.reduce((all, { product }) => all + product, 0);
  const parts = { activationsFrom: nameOf(step.a), row, weightsFrom: nameOf(step.b), channel };
  return {
    formula: "row of a · row of b",
    parts: [],
    dot: { ...parts, terms, sum, bias: 0, accumulator: sum },
    stored: sum >>> 0,
  };
}

/** Values of a row of bytes. */
function valuesOf(place: Place, operand: Operand, row: number): number[] {
  const { type, dims } = shapeOf(place, operand);
  const k = lastDim(dims);
  const data = isStep(operand) ? (place.tensors[operand] as Tensor).data : place.constant(operand);
  return Array.from(data.subarray(row * k, (row + 1) * k), (stored) => numberOf(type, stored));
}

function weightDot(place: Place): Found {
  const { step, element, tensors, model } = place;
  const n = lastDim(step.dims);
  const channel = element % n;
  const row = Math.floor(element / n) * step.k + Math.floor((channel * step.k) / n);
  const k = lastDim(shapeOf(place, step.b).dims);
  const parameters = parametersOf(place, step.b, channel);
  const { data } = isStep(step.a) ? (tensors[step.a] as Tensor) : { data: place.constant(step.a) };
  const activationOf = isPlanesDot(step)
    ? (i: number): number => 256 * (data[2 * row * k + i] as number) + (data[(2 * row + 1) * k + i] as number)
    : (i: number): number => data[row * k + i] as number;
  const words = model.weights[weightIndex(step.b)] as Uint8Array;
  const rowBytes = 32 * (Math.ceil(k / 32) + 1);
  let sum = 0;
  const terms = Array.from({ length: k }, (_, i): Term => {
    const activation = activationOf(i);
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
  const rows = isPlanesDot(step) ? "row of numbers, 256 · high byte + low byte," : "row of activations";
  const common = { formula: `${rows} · row of weights + bias`, parts: [], dot: found };
  if (isSumsDot(step)) return { ...common, stored: accumulator >>> 0 };
  const done = requantized(step, accumulator, parameters);
  if (step.c === NONE) return { ...common, ...done };
  const added = partAt(place, step.c, element);
  return {
    ...common,
    ...done,
    formula: `${common.formula}, scaled, + ${added.value}`,
    parts: [added],
    stored: (done.stored + added.value) >>> 0,
  };
}

function channelOf(place: Place) {
  const { step, element } = place;
  const rows = shapeOf(place, step.b).dims[0] as number;
  const parameters = parametersOf(place, step.b, rows === 1 ? 0 : element % lastDim(step.dims));
  const part = partAt(place, step.a, element);
  const changed = step.c === NONE ? undefined : changedNumber(place, step.c, part);
  const accumulator = ((changed === undefined ? part.value : changed.stored) + parameters.bias) | 0;
  const parts = changed === undefined ? [part] : changed.parts;
  return { parameters, accumulator, changed, common: { parts, accumulator, bias: parameters.bias } };
}

/** A number of RESCALE planes times its factor, or by its divisor. @param place whose step has the dims of the numbers */
function changedNumber(place: Place, operand: Operand, x: Part): Found {
  const { step, element } = place;
  const length = lastDim(step.dims);
  const planes = { k: step.k, dims: [...step.dims.slice(0, -1), 2 * length] };
  const { dims } = shapeOf(place, operand);
  const by = partAt(place, operand, changedBy(planes, dims, Math.floor(element / length), element % length));
  if (step.k !== 0) return ratioOf(x, by, step.k, "s32");
  const product = Math.imul(x.value, by.value);
  return { formula: `${x.value} · ${by.value}`, parts: [x, by], stored: product };
}

export function requant(place: Place): Found {
  const { parameters, accumulator, common } = channelOf(place);
  const done = requantized(place.step, accumulator, parameters);
  return { formula: "(a + bias), scaled to a byte", ...common, ...done };
}

/** An element times k by the divisor of its row. */
function rowRatio(place: Place): Found {
  const { step, element } = place;
  const x = partAt(place, step.a, element);
  const divisor = partAt(place, step.b, Math.floor(element / lastDim(step.dims)));
  return ratioOf(x, divisor, step.k, step.type);
}

function ratioOf(x: Part, divisor: Part, k: number, type: Step["type"]): Found {
  const numerator = 2n * BigInt(x.value) * BigInt(k) + BigInt(divisor.value);
  const division = `(2 · ${x.value} · ${k} + ${divisor.value}) / (2 · ${divisor.value})`;
  const quotient = ratio(x.value, k, divisor.value);
  const [low, high] = LIMITS[type as keyof typeof LIMITS];
  return {
    formula:
      divisor.value < 1
        ? "0: the divisor is below 1"
        : `${division} = ${numerator} / ${2 * divisor.value}, rounded down, within ${low} to ${high}`,
    parts: [x, divisor],
    stored: saturated(type, quotient),
  };
}

/** A byte of an element that is rescaled to a number of 16 bits. */
function planeByte(place: Place): Found {
  const { step, element } = place;
  const length = planeLength(step);
  const [row, column] = [Math.floor(element / (2 * length)), element % length];
  const isHigh = element % (2 * length) < length;
  const source = {
    ...place,
    step: { ...step, dims: numberDims(step) },
    element: row * length + column,
  };
  const { stored, formula, ...found } = shiftedOf(source);
  const number = numberOf16(stored | 0);
  return {
    ...found,
    formula: `${formula}, within 0 to ${MOST_NUMBER}: ${number}, ${isHigh ? "its high byte" : "its low byte"}`,
    stored: isHigh ? number >> 8 : number & 255,
  };
}

export function rescale(place: Place): Found {
  if (isRatio(place.step)) return rowRatio(place);
  return isPlanes(place.step) ? planeByte(place) : shiftedOf(place);
}

function shiftedOf(place: Place): Found {
  const { parameters, accumulator, changed, common } = channelOf(place);
  const { multiplier, addend, shift } = parameters;
  const shifted = shiftedSum(accumulator, parameters);
  return {
    formula:
      changed === undefined
        ? "((a + bias) · M + B) >> S"
        : `a = ${changed.formula}; ((a + bias) · M + B) >> S`,
    ...common,
    requantization: { form: "rescale", multiplier, addend, shift: shift & 63, shifted },
    stored: Number(BigInt.asUintN(32, shifted)),
  };
}
