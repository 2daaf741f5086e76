import type { Tensor, TensorType } from "../../inference/program/form.ts";
import { elementCount } from "../../inference/program/form.ts";
import { bitsOf, bitsOfFloat, floatOfBits, newData } from "../../inference/program/tensor.ts";
import type { ChannelParameters } from "../../inference/program/weights.ts";
import type { Rng } from "./rng.ts";

/** Values that a tensor can hold: numbers from low to high, all multiples of 2^quantum (integers: 0). */
export interface Range {
  readonly low: number;
  readonly high: number;
  readonly quantum: number;
}

export const TYPE_RANGES: Readonly<Record<TensorType, Range>> = {
  u8: { low: 0, high: 255, quantum: 0 },
  s8: { low: -128, high: 127, quantum: 0 },
  s32: { low: -(2 ** 31), high: 2 ** 31 - 1, quantum: 0 },
  bool: { low: 0, high: 1, quantum: 0 },
  f32: { low: -(2 ** 20), high: 2 ** 20, quantum: -149 },
};

const EDGE_INTEGERS = [0, 1, -1, 2, 127, -128, 255, 256, 2 ** 31 - 1, -(2 ** 31), 65_535, -65_536, 46_341];
/** Zeros, ones, halves, subnormals, the ends of the range, infinities and NaNs with payloads. */
export const EDGE_FLOAT_BITS: readonly number[] = [
  0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0x00000001,
  0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
  0x7f800001, 0xffffffff, 0x4f000000, 0xcf000000, 0x4effffff, 0x4b000001, 0x3f7fffff, 0x33800000, 0x437f8000,
];

/** An integer of a range, often at or near an edge. */
export function randomInteger(rng: Rng, { low, high }: Range): number {
  const edges = EDGE_INTEGERS.filter((edge) => edge >= low && edge <= high);
  if (rng.chance(0.15) && edges.length > 0) return rng.pick(edges);
  if (rng.chance(0.1)) return rng.pick([low, high]);
  if (high - low > 2 ** 20 && rng.chance(0.5)) {
    const bits = rng.int(1, 31);
    return Math.max(low, Math.min(high, rng.int(-(2 ** bits), 2 ** bits)));
  }
  return rng.int(low, high);
}

/** Any 32 bits, often those of an ordinary number, of an edge, or of one near it. */
export function randomFloatBits(rng: Rng): number {
  if (rng.chance(0.3)) return rng.pick(EDGE_FLOAT_BITS);
  if (rng.chance(0.15)) return (rng.pick(EDGE_FLOAT_BITS) + rng.int(-2, 2)) >>> 0;
  if (rng.chance(0.3)) return rng.u32();
  return bitsOfFloat(rng.int(-100_000, 100_000) * 2 ** rng.int(-20, 4));
}

/** A number of small size on a coarse grid, whose sums and products stay ordinary. */
export const saneFloat = (rng: Rng): number => rng.int(-(2 ** 12), 2 ** 12) * 2 ** rng.int(-10, 0);
export const SANE_FLOATS: Range = { low: -(2 ** 12), high: 2 ** 12, quantum: -10 };

/** A tensor with random content.
 *  @param hostile any stored bytes, also bools that are neither 0 nor 1 and every NaN */
export function randomTensor(
  rng: Rng,
  type: TensorType,
  dims: readonly number[],
  hostile: boolean,
  range: Range = TYPE_RANGES[type],
): Tensor {
  const data = newData(type, elementCount(dims));
  for (let i = 0; i < data.length; i++) {
    if (type === "f32") {
      if (hostile) bitsOf(data)[i] = randomFloatBits(rng);
      else data[i] = saneFloat(rng);
    } else if (hostile && type !== "s32")
      data[i] = rng.chance(0.1) ? rng.pick([0, 1, 127, 128, 255]) : rng.int(0, 255);
    else data[i] = randomInteger(rng, range) + (type === "s8" ? 128 : 0);
  }
  return { type, dims, data };
}

/** A parameter word of any bytes, often with a shift that leaves something of the product. */
export function hostileParameters(rng: Rng): ChannelParameters {
  const shift = rng.chance(0.5) ? rng.int(0, 255) : rng.int(20, 55);
  return {
    bias: randomInteger(rng, TYPE_RANGES.s32),
    multiplier: rng.chance(0.5) ? rng.u32() : rng.int(0, 2 ** 22),
    addend: BigInt.asIntN(64, (BigInt(rng.u32()) << 32n) | BigInt(rng.u32())) >> BigInt(rng.int(0, 63)),
    shift,
    scaleBits: rng.chance(0.5)
      ? randomFloatBits(rng)
      : bitsOfFloat(2 ** -rng.int(0, 30) * (1 + rng.int(0, 99) / 100)),
    zeroPoint: rng.int(0, 255),
    lower: rng.chance(0.6) ? 0 : rng.int(0, 255),
    upper: rng.chance(0.6) ? 255 : rng.int(0, 255),
    weightOffset: rng.chance(0.5) ? rng.int(0, 255) : rng.int(0, 65_535),
  };
}

/** A parameter word that leaves most sums of so many bits between the clamps, often a plain shift. */
export function liveParameters(rng: Rng, bits: number): ChannelParameters {
  const width = rng.chance(0.5) ? 0 : rng.int(1, 22);
  const shift = Math.max(0, bits - 7 + width - rng.int(0, 1));
  const scale = 2 ** -(shift - width) * (1 + rng.int(0, 2 ** 20) / 2 ** 21);
  return {
    ...{
      bias: rng.int(-60, 60),
      multiplier: 2 ** width,
      addend: rng.chance(0.5) ? 0n : 2n ** BigInt(shift) / 2n,
    },
    ...{ shift, scaleBits: bitsOfFloat(scale), zeroPoint: rng.int(90, 160), lower: 0, upper: 255 },
    weightOffset: 128,
  };
}

/** A parameter word as import writes it for sums of this range: both forms compute the same function.
 *  @param spread size of the sums that should not end at a clamp
 *  @param integer false: the integer form is left zero, for a step in the binary32 form */
export function saneParameters(
  rng: Rng,
  sums: Range,
  spread: number,
  integer: boolean,
  type: "u8" | "s8",
): ChannelParameters {
  const zeroPoint = type === "s8" ? 128 + rng.int(-20, 20) : rng.pick([0, 128, rng.int(60, 190)]);
  const [lower, upper] = rng.chance(0.8) ? [0, 255] : [rng.int(0, 60), rng.int(190, 255)];
  for (let attempt = 0; ; attempt++) {
    // Small scales seldom have an integer form; a larger one only sends more sums to a clamp.
    const target = Math.max(1, spread * 2 ** -Math.floor(attempt / 40));
    const scale = Math.fround((rng.int(20, 160) / target) * (1 + rng.int(0, 1 << 20) / 2 ** 21));
    const bits = bitsOfFloat(scale);
    const common = { bias: 0, scaleBits: bits, zeroPoint, lower, upper, weightOffset: 128 };
    if (!integer) return { ...common, multiplier: 0, addend: 0n, shift: 0 };
    const multiplier = (bits & 0x7fffff) | 0x800000;
    const shift = 150 - (bits >>> 23);
    if (shift < 1 || shift > 52) continue;
    const addend = 2n ** BigInt(shift - 1);
    if (isIntegerForm(scale, multiplier, addend, shift, sums))
      return { ...common, multiplier, addend, shift };
  }
}

/** True if both forms agree wherever the binary32 form changes its value near the output range. */
function isIntegerForm(
  scale: number,
  multiplier: number,
  addend: bigint,
  shift: number,
  sums: Range,
): boolean {
  const largest = Math.max(Math.abs(sums.low), Math.abs(sums.high));
  if (largest * multiplier + Number(addend) >= 2 ** 53) return false;
  const rounded = (acc: number): number => {
    const x = Math.fround(Math.fround(acc) * scale);
    const down = Math.floor(x);
    const rest = x - down;
    return rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down;
  };
  const shifted = (acc: number): number =>
    Number((BigInt(acc) * BigInt(multiplier) + addend) >> BigInt(shift));
  const reach = 2 + Math.ceil((300 * 2 ** -23) / scale);
  for (let q = -300; q <= 300; q++) {
    const near = Math.round((q - 0.5) / scale);
    for (let acc = near - reach; acc <= near + reach; acc++) {
      if (acc >= sums.low && acc <= sums.high && rounded(acc) !== shifted(acc)) return false;
    }
  }
  return true;
}

/** Bits of a sane scale: a power of two times a short fraction, from 2^-8 to 1. */
export const saneScale = (rng: Rng): number =>
  floatOfBits(bitsOfFloat(rng.int(16, 31) * 2 ** rng.int(-12, -5)));
