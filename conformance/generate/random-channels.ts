/** The steps that scale each element by its channel's parameter word. */
import { variantCode } from "../../inference/program/codes.ts";
import { lastDim } from "../../inference/program/form.ts";
import { packChannel } from "../../inference/program/weights.ts";
import { type ProgramBuilder, randomDims, type Value } from "./program-builder.ts";
import { ratio } from "./random-ratio.ts";
import { hostileParameters, type Range, saneParameters, TYPE_RANGES } from "./random-values.ts";

const BYTES = ["u8", "s8"] as const;
const MOST = 160;

const range = (low: number, high: number, quantum = 0): Range => ({ low, high, quantum });

function channelStep(
  b: ProgramBuilder,
  opcode: "requant" | "rescale",
  variant: number,
  type: "u8" | "s8" | "s32",
  dims: readonly number[] = randomDims(b.rng, MOST),
): Value {
  const { rng } = b;
  const input = b.clamp(b.value(["s32"], dims), range(-(2 ** 26), 2 ** 26));
  const n = rng.chance(0.7) && lastDim(dims) <= 64 ? lastDim(dims) : 1;
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
  const isPlanes = opcode === "rescale" && type === "u8";
  const out = isPlanes ? [...dims.slice(0, -1), 2 * lastDim(dims)] : dims;
  return b.step({ opcode, variant, type, dims: out, a: input, b: parameters }, TYPE_RANGES[type]);
}

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
