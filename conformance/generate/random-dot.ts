/** DOT: bytes or numbers of 16 bits times weights, and products of two computed tensors. */
import { variantCode } from "../../inference/program/codes.ts";
import { packDot } from "../../inference/program/weights.ts";
import type { ProgramBuilder, Value } from "./program-builder.ts";
import { rescaled } from "./random-channels.ts";
import { hostileParameters, type Range, saneParameters, TYPE_RANGES } from "./random-values.ts";
import type { Rng } from "./rng.ts";

const BYTES = ["u8", "s8"] as const;

const range = (low: number, high: number, quantum = 0): Range => ({ low, high, quantum });

/** Rows of activations times rows of activations. */
function dotOfActivations(b: ProgramBuilder): Value {
  const { rng } = b;
  const k = rng.chance(0.85) ? rng.int(1, 70) : rng.pick([96, 128, 255, 992, 1023, 1024]);
  const most = k > 200 ? 2 : 4;
  const [matrices, share, n] = [rng.int(1, most), rng.int(1, most), rng.int(1, most)];
  const left = b.value(BYTES, rng.chance(0.5) ? [matrices * share, k] : [matrices, share, k]);
  const right = b.value(BYTES, rng.chance(0.5) ? [matrices * n, k] : [matrices, n, k]);
  const dims = rng.chance(0.5) ? [matrices * share, n] : [matrices, share, n];
  const variant = variantCode("dot", "activations");
  return b.step(
    { opcode: "dot", variant, type: "s32", dims, a: left, b: right, k: share },
    range(-255 * 128 * k, 255 * 255 * k),
  );
}

export function dot(b: ProgramBuilder): Value {
  const { rng } = b;
  if (rng.chance(0.25)) return dotOfActivations(b);
  const isPlanes = rng.chance(0.25);
  const longest = isPlanes ? [1536, 2015, 2016] : [991, 992];
  const k = rng.chance(0.85) ? rng.int(1, 70) : rng.pick([96, 128, 255, 768, ...longest]);
  const groups = rng.chance(0.7) || k > 200 ? 1 : rng.int(2, 4);
  const n = groups * rng.int(1, k > 200 ? 2 : 5);
  const rows = rng.int(1, k > 200 ? 2 : 4);
  const input = isPlanes ? planesOf(b, rows * groups, k) : b.value(BYTES, [rows * groups, k]);
  const variant = isPlanes ? variantCode("dot", rng.pick(["planes", "rescaled"])) : rng.int(0, 2);
  const isRescaled = variant === variantCode("dot", "rescaled");
  const areSums = variant === 0 || (isPlanes && !isRescaled);
  const type = areSums ? "s32" : rng.pick<"s32" | "u8" | "s8">(isRescaled ? ["s32", ...BYTES] : BYTES);
  const dims = rng.chance(0.5) ? [rows, n] : [1, rows, n];
  const isAdded = isRescaled && type === "s32" && rng.chance(0.6);
  // Of 16-bit numbers no sum of sane programs leaves s32.
  const most = isPlanes ? Math.max(1, Math.min(127, Math.floor(2 ** 15 / k) - 1)) : 128;
  const bytes = rng.bytes(n * k).map((byte) => (isPlanes ? 128 + (byte % (2 * most)) - most : byte));
  const largest = isPlanes ? 2 ** 31 - 2 ** 12 : 255 * 255 * k;
  const sums = range(-largest, largest);
  const spread = Math.sqrt(k) * 74 * 74 * 2;
  const channels = Array.from({ length: n }, (_, row) => {
    if (b.options.hostile) return hostileParameters(rng);
    const parameters = {
      ...saneParameters(rng, sums, spread, variant === 1, type === "s8" ? "s8" : "u8"),
      ...(isRescaled ? rescaling(rng) : {}),
      ...(isAdded ? { upper: rng.int(0, 29) } : {}),
    };
    // Centres the sums: what a zero point's correction does in a real layer.
    let offset = 0;
    for (let i = 0; i < k; i++) offset += (bytes[row * k + i] as number) - 128;
    const zero = isPlanes ? 2 ** 15 : 128;
    const own = isPlanes ? { ...parameters, weightOffset: 128 } : parameters;
    return { ...own, bias: (-zero * offset + rng.int(-1000, 1000)) | 0 };
  });
  const words = packDot(bytes, k, channels);
  if (b.options.hostile && rng.chance(0.5)) words.set(rng.bytes(words.length));
  const weights = b.weight({ layout: "dot", type: "u8", dims: [n, k] }, words);
  const fields = { opcode: "dot", variant, type, dims, a: input, b: weights, k: groups } as const;
  if (isAdded) return b.step({ ...fields, c: b.clamp(b.value(["s32"], dims), range(-(2 ** 30), 2 ** 30)) });
  return b.step(fields, areSums && !b.options.hostile ? sums : TYPE_RANGES[type]);
}

/** Multiplier, addend and shift by which some sums of numbers of 16 bits come to lie inside of the clamps. */
function rescaling(rng: Rng) {
  const shift = rng.int(10, 36);
  return { multiplier: rng.int(1, 2 ** 20), addend: 2n ** BigInt(shift - 1), shift };
}

/** Rows of k numbers of 16 bits: bytes, or what RESCALE planes makes of a tensor. */
function planesOf(b: ProgramBuilder, rows: number, k: number): Value {
  const dims = [rows, 2 * k];
  return b.rng.chance(0.5) ? b.value(["u8"], dims) : rescaled(b, [rows, k]);
}
