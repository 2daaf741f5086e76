/** The steps that scale each element by its channel's parameter word. */
import { variantCode } from "../../inference/program/codes.ts";
import { elementCount, lastDim } from "../../inference/program/form.ts";
import { packChannel } from "../../inference/program/weights.ts";
import { type ProgramBuilder, randomDims, type Value } from "./program-builder.ts";
import { divisorsOf, ratio } from "./random-ratio.ts";
import { hostileParameters, type Range, saneParameters, TYPE_RANGES } from "./random-values.ts";

const BYTES = ["u8", "s8"] as const;
const MOST = 160;

const range = (low: number, high: number, quantum = 0): Range => ({ low, high, quantum });

function channelStep(
  b: ProgramBuilder,
  opcode: "requant" | "rescale",
  variant: number,
  type: "u8" | "s8" | "s32",
  given?: readonly number[],
): Value {
  const { rng } = b;
  const dims = given ?? randomDims(rng, MOST);
  const input = b.clamp(b.value(["s32"], dims), range(-(2 ** 26), 2 ** 26));
  const isPlanes = opcode === "rescale" && type === "u8";
  const count = elementCount(dims);
  // Planes are of rows of any length.
  const isCut = isPlanes && given === undefined && rng.chance(0.4);
  const length = isCut ? rng.pick(partsOf(count)) : lastDim(dims);
  const n = rng.chance(0.7) && length <= 64 ? length : 1;
  const channels = Array.from({ length: n }, () => {
    if (b.options.hostile) return hostileParameters(rng);
    const sums = range(input.range.low - 1000, input.range.high + 1000);
    const bias = rng.int(-1000, 1000);
    if (opcode === "requant") {
      const spread = Math.min(2 ** 15, sums.high - sums.low);
      return { ...saneParameters(rng, sums, spread, variant === 1, type === "s8" ? "s8" : "u8"), bias };
    }
    const shift = rng.int(0, 20);
    const [multiplier, addend] = [
      rng.int(1, 2 ** Math.min(20, shift + 2)),
      BigInt(rng.int(-(2 ** 20), 2 ** 20)),
    ];
    return {
      bias,
      multiplier,
      addend,
      shift,
      scaleBits: 0,
      zeroPoint: 0,
      lower: 0,
      upper: 0,
      weightOffset: 0,
    };
  });
  const words = packChannel(channels);
  if (b.options.hostile && rng.chance(0.5)) words.set(rng.bytes(words.length));
  const parameters = b.weight({ layout: "channel", type: "u8", dims: [n] }, words);
  const rows = isCut ? [count / length] : dims.slice(0, -1);
  const out = isPlanes ? [...rows, 2 * length] : dims;
  const fields = { opcode, variant, type, dims: out, a: input, b: parameters };
  if (!isPlanes || rng.chance(0.6)) return b.step(fields, TYPE_RANGES[type]);
  return b.step({ ...fields, ...changed(b, input, rows, length) }, TYPE_RANGES[type]);
}

/** Factors of numbers, or divisors of parts of their rows. No number of a sane program becomes larger than 2^26 by them. */
function changed(b: ProgramBuilder, input: Value, rows: readonly number[], length: number) {
  const { rng } = b;
  if (rng.chance(0.5)) {
    const size = Math.max(1, Math.abs(input.range.low), Math.abs(input.range.high));
    const most = Math.max(1, Math.floor(2 ** 26 / size));
    const dims = rng.pick([input.dims, [elementCount(input.dims)]]);
    return { c: b.clamp(b.value(["s32"], dims), range(-most, most)), k: 0 };
  }
  const k = b.options.hostile ? rng.pick([1, rng.u32() || 1]) : rng.int(1, 2 ** 20);
  const parts = rng.chance(0.5) ? 1 : rng.pick(partsOf(length));
  return { c: divisorsOf(b, parts === 1 ? rows : [...rows, parts], k), k };
}

const partsOf = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => i + 1).filter((divisor) => count % divisor === 0);

/** @param dims of what is rescaled */
export const rescaled = (b: ProgramBuilder, dims?: readonly number[]): Value =>
  channelStep(b, "rescale", variantCode("rescale", "planes"), "u8", dims);

export function requant(b: ProgramBuilder): Value {
  return channelStep(b, "requant", b.rng.int(1, 2), b.rng.pick(BYTES));
}

export function rescale(b: ProgramBuilder): Value {
  if (b.rng.chance(0.4)) return ratio(b);
  return b.rng.chance(0.4) ? rescaled(b) : channelStep(b, "rescale", 0, "s32");
}
