/** The arithmetic of one element of DOT, REQUANT and RESCALE, step by step, from the operands that a conviction opens:
 *  for people who look at it. What it computes is compared with the canonical executor over random programs. */
import { concatBytes } from "../../base/bytes.ts";
import { limited, numberOf, quantum, shiftedSum } from "../../inference/opcodes/rounding.ts";
import { variantName } from "../../inference/program/codes.ts";
import { isPlanes, type Step, type WeightDescriptor } from "../../inference/program/form.ts";
import { floatOfBits } from "../../inference/program/tensor.ts";
import { type ChannelParameters, readParameters, unpackDot } from "../../inference/program/weights.ts";

export interface Channel extends Omit<ChannelParameters, "addend" | "scaleBits"> {
  readonly addend: string;
  /** absent: the bits are no finite number */
  readonly scale?: number;
}

export interface Requantization {
  readonly form: "integer" | "binary32" | "none";
  readonly product?: string;
  readonly sum?: string;
  readonly shifted?: string;
  readonly scaled?: number;
  readonly rounded?: number;
  readonly withZeroPoint?: number;
  /** u of DOT rescaled to s32: the shifted sum is kept between -2^u and 2^u - 1 */
  readonly bits?: number;
  /** what is stored: a byte, or 32 bits with their sign; of RESCALE planes the number of which a byte is */
  readonly clamped: number;
}

export interface DotArithmetic {
  readonly kind: "dot";
  readonly channel: number;
  readonly activations: number[];
  readonly weights: number[];
  readonly storedWeights: number[];
  readonly products: number[];
  readonly sum: number;
  readonly bias: number;
  readonly accumulator: number;
  readonly parameters: Channel;
  readonly requantization: Requantization;
  /** of DOT rescaled: what is added to it, wrapped; absent: nothing */
  readonly added?: number;
}

/** DOT activations: two rows of computed values; their sum is the element. */
export interface RowsArithmetic {
  readonly kind: "rows";
  /** values of the row of a, and of the row of b */
  readonly left: number[];
  readonly right: number[];
  readonly products: number[];
  readonly sum: number;
}

export interface ChannelArithmetic {
  readonly kind: "channel";
  readonly channel: number;
  readonly input: number;
  readonly accumulator: number;
  readonly parameters: Channel;
  readonly requantization: Requantization;
}

/** @param activations stored bytes of the row, of DOT planes its numbers of 16 bits @param words of the weight row, the
 *  parameter word last @param added to what is rescaled */
export function dotArithmetic(
  step: Step,
  weights: WeightDescriptor,
  channel: number,
  activations: readonly number[],
  words: readonly Uint8Array[],
  added?: number,
): DotArithmetic {
  const k = weights.dims[1] as number;
  const row = concatBytes(...words);
  const parameters = readParameters(row, row.length - 32);
  const storedWeights = [...unpackDot(row, 1, k)];
  const real = storedWeights.map((stored) => stored - parameters.weightOffset);
  const products = real.map((weight, i) => weight * (activations[i] as number));
  const sum = products.reduce((all, product) => all + product, 0);
  const accumulator = (sum + parameters.bias) | 0;
  return {
    kind: "dot",
    channel,
    activations: [...activations],
    weights: real,
    storedWeights,
    products,
    sum,
    bias: parameters.bias,
    accumulator,
    parameters: channelOf(parameters),
    requantization: requantize(step, accumulator, parameters),
    ...(added === undefined ? {} : { added }),
  };
}

export function rowsArithmetic(left: readonly number[], right: readonly number[]): RowsArithmetic {
  const products = left.map((value, i) => value * (right[i] as number));
  const sum = products.reduce((all, product) => all + product, 0);
  return { kind: "rows", left: [...left], right: [...right], products, sum };
}

/** @param input the accumulator that is rescaled @param word the channel's parameters */
export function channelArithmetic(
  step: Step,
  channel: number,
  input: number,
  word: Uint8Array,
): ChannelArithmetic {
  const parameters = readParameters(word, 0);
  const accumulator = (input + parameters.bias) | 0;
  return {
    kind: "channel",
    channel,
    input,
    accumulator,
    parameters: channelOf(parameters),
    requantization: requantize(step, accumulator, parameters),
  };
}

function channelOf({ scaleBits, addend, ...rest }: ChannelParameters): Channel {
  const scale = floatOfBits(scaleBits);
  return { ...rest, addend: `${addend}`, ...(Number.isFinite(scale) ? { scale } : {}) };
}

/** Source: docs/EXACT.md, section 3. */
function requantize(
  { opcode, variant, type }: Step,
  acc: number,
  parameters: ChannelParameters,
): Requantization {
  const isRescaled = variantName(opcode, variant) === "rescaled";
  const name = opcode === "rescale" || isRescaled ? "integer" : variantName(opcode, variant);
  if (name === "binary32") {
    const scaled = Math.fround(Math.fround(acc) * floatOfBits(parameters.scaleBits));
    const rounded = quantum(scaled);
    return {
      form: "binary32",
      ...(Number.isFinite(scaled) ? { scaled } : {}),
      rounded,
      ...clamp(rounded, parameters),
    };
  }
  if (name !== "integer") return { form: "none", clamped: acc };
  const product = BigInt(acc) * BigInt(parameters.multiplier);
  const shifted = shiftedSum(acc, parameters);
  const steps = {
    form: "integer",
    product: `${product}`,
    sum: `${BigInt.asIntN(64, product + parameters.addend)}`,
    shifted: `${shifted}`,
  } as const;
  // RESCALE has neither zero point nor clamps of its own: the low 32 bits are stored, or what 16 bits hold of them.
  if (opcode === "rescale") {
    const low = Number(BigInt.asIntN(32, shifted));
    return { ...steps, clamped: isPlanes({ opcode, variant }) ? numberOf(low) : low };
  }
  if (isRescaled && type === "s32") {
    const { upper } = parameters;
    return { ...steps, bits: upper & 31, clamped: limited(shifted, upper) };
  }
  return { ...steps, ...clamp(Number(shifted), parameters) };
}

function clamp(rounded: number, { zeroPoint, lower, upper }: ChannelParameters) {
  const withZeroPoint = rounded + zeroPoint;
  return { withZeroPoint, clamped: Math.min(Math.max(withZeroPoint, lower), upper) };
}
