/** The last step of a directed program of numbers of 16 bits, in planes of bytes. */
import type { Value } from "../../conformance/generate/program-builder.ts";
import { variantCode } from "../../inference/program/codes.ts";
import { elementCount, lastDim, type TensorType } from "../../inference/program/form.ts";
import { packChannel, packDot } from "../../inference/program/weights.ts";
import type { DirectedBuilder, Target } from "./directed-builder.ts";
import { finish, integers, largeDims } from "./directed-values.ts";
import type { Rng } from "./rng.ts";

const NOTHING = { scaleBits: 0, zeroPoint: 0, lower: 0, upper: 0, weightOffset: 0 };

/** Scales by which most numbers lie inside of 16 bits, and some beyond. */
export function planes(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const dims = largeDims(rng);
  const k = lastDim(dims);
  // Its rows are read whatever its dims are.
  const [outer, parts] = [dims.slice(0, -1), [2, 3, 5, 7].filter((part) => k % part === 0)];
  const part = parts.length > 0 && rng.chance(0.5) ? rng.pick(parts) : undefined;
  const read = part === undefined ? dims : [elementCount(outer) * (k / part), part];
  const a = b.operand(integers("s32", -(2 ** 26), 2 ** 26), read, false);
  const channels = Array.from({ length: rng.chance(0.7) && k <= 300 ? k : 1 }, () => {
    const shift = rng.int(8, 24);
    const bias = rng.int(-1000, 1000);
    const multiplier = rng.int(1, 2 ** (shift - 8));
    return { ...NOTHING, bias, multiplier, addend: BigInt(rng.int(0, 65_535)) << BigInt(shift), shift };
  });
  const words = b.weight({ layout: "channel", type: "u8", dims: [channels.length] }, packChannel(channels));
  const fields = { dims: [...outer, 2 * k], a, b: words };
  if (rng.chance(0.5)) return finish(b, target, fields);
  // Products, or quotients of up to the numbers' own size.
  if (rng.chance(0.4)) {
    const factors = integers("s32", -16, 16);
    return finish(b, target, {
      ...fields,
      c: b.operand(factors, rng.pick([read, [elementCount(read)]])),
      k: 0,
    });
  }
  const multiplier = rng.pick([1, rng.int(1, 2 ** 20), 2 ** 26]);
  const divisors = integers("s32", multiplier, multiplier * rng.pick([1, 3, 20]) + 3);
  const groups = part !== undefined && rng.chance(0.6) ? part : 1;
  const own = rng.pick([[...outer, groups], [elementCount(outer) * groups]]);
  return finish(b, target, { ...fields, c: b.operand(divisors, own), k: multiplier });
}

/** By which most sums come to lie inside of a byte, or of some number of bits, and some beyond.
 *  @param spread standard deviation of the sums */
function rescaling(rng: Rng, spread: number, type: TensorType) {
  const factor = (type === "s32" ? 2 ** rng.int(6, 28) : rng.int(20, 90)) / spread;
  const shift = Math.max(1, Math.min(44, 18 - Math.ceil(Math.log2(factor))));
  const multiplier = Math.max(1, Math.round(factor * 2 ** shift));
  const addend = (1n << BigInt(shift)) >> 1n;
  const clamps = { zeroPoint: rng.pick([128, 128, 100]), lower: rng.int(0, 9), upper: rng.int(200, 255) };
  return { scaleBits: 0, multiplier, addend, shift, ...clamps };
}

/** Weights of which no sum leaves s32. */
export function planesDot(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const k = rng.chance(0.7)
    ? rng.int(1, rng.pick([4, 100]))
    : rng.pick([127, 128, 256, 511, 768, 992, 1536, 2015, 2016]);
  const groups = rng.chance(0.6) ? 1 : rng.int(2, 6);
  const n = groups * rng.int(1, Math.max(1, Math.floor(80 / groups)));
  const rows = Math.max(1, Math.min(Math.floor(15_000 / (k * groups)), Math.floor(2400 / n)));
  const dims = rng.chance(0.5) ? [rows * groups, 2 * k] : [rows, groups, 2 * k];
  const a = b.operand(integers("u8"), dims, false);
  const isRescaled = target.variant === variantCode("dot", "rescaled");
  const isAdded = isRescaled && target.type === "s32" && rng.chance(0.5);
  const offset = rng.pick([0, 128, 128, rng.int(1, 255)]);
  const most = Math.max(1, Math.min(128, Math.floor(2 ** 15 / k)));
  const bytes = rng
    .bytes(n * k)
    .map((byte) => Math.min(255, Math.max(0, offset - most + (byte % (2 * most)))));
  const spread = Math.sqrt(k / 3) * (65_536 / Math.sqrt(12)) * most;
  const channels = Array.from({ length: n }, (_, row) => {
    let sum = 0;
    for (let i = 0; i < k; i++) sum += (bytes[row * k + i] as number) - offset;
    const bias = -32_768 * sum + rng.int(-1000, 1000);
    const own = rescaling(rng, spread, target.type);
    return { ...own, ...(isAdded ? { upper: own.upper % 30 } : {}), bias, weightOffset: offset };
  });
  const weights = b.weight({ layout: "dot", type: "u8", dims: [n, k] }, packDot(bytes, k, channels));
  const fields = { dims: [rows, n], a, b: weights, k: groups };
  if (!isAdded) return finish(b, target, fields);
  return finish(b, target, { ...fields, c: b.operand(integers("s32", -(2 ** 30), 2 ** 30), [rows, n]) });
}
