/** The last step of a directed program, one function an opcode. */

import type { Value } from "../../conformance/generate/program-builder.ts";
import { findIntegerForm } from "../../inference/onnx/requantize/integer-form.ts";
import {
  ARITH_VARIANTS,
  FLOAT_VARIANTS,
  isActivationDot,
  isBelow,
  isEach,
  isPlanes,
  isPlanesDot,
  isRatio,
  isRotate,
  lastDim,
  type TensorType,
} from "../../inference/program/form.ts";
import { bitsOfFloat } from "../../inference/program/tensor.ts";
import { type ChannelParameters, packChannel, packDot, packLookup } from "../../inference/program/weights.ts";
import { below } from "./directed-below.ts";
import type { Content, DirectedBuilder, Target } from "./directed-builder.ts";
import { each } from "./directed-each.ts";
import { planes, planesDot } from "./directed-planes.ts";
import { ratio } from "./directed-ratio.ts";
import { reduce } from "./directed-reduce.ts";
import { rotate } from "./directed-rotate.ts";
import { evenFloats, finish, floats, INTEGERS, integers, LIMITS, largeDims } from "./directed-values.ts";
import type { Rng } from "./rng.ts";

type Build = (b: DirectedBuilder, target: Target) => Value;

/** The output's dims, or smaller ones that broadcast to them. */
function broadcastDims(rng: Rng, dims: readonly number[]): readonly number[] {
  if (rng.chance(0.6)) return dims;
  if (rng.chance(0.2)) return [1];
  const kept = dims.slice(rng.int(0, dims.length - 1));
  return kept.map((dim) => (rng.chance(0.2) ? 1 : dim));
}

function lookup(b: DirectedBuilder, target: Target): Value {
  if (isEach(target)) return each(b, target);
  if (isBelow(target)) return below(b, target);
  const { rng } = b;
  const [v, d] = [rng.int(1, 300), rng.chance(0.9) ? rng.int(20, 200) : rng.int(500, 1024)];
  const rows = [rng.int(1, 3), rng.int(2, Math.max(2, Math.floor(1300 / d)))];
  const ids = integers("s32", -3, v + 2);
  if (target.variant === 1) {
    const a = b.operand(ids, [...rows, 1], false);
    const table = b.operand(anyOf(target.type), [v, d], true);
    return finish(b, target, { dims: [...rows, d], a, b: table });
  }
  const a = b.operand(ids, [...rows, rng.int(1, 16)], false);
  const values = Int8Array.from({ length: v * d }, () => rng.int(-128, 127));
  const table = b.weight({ layout: "lookup", type: "s8", dims: [v, d] }, packLookup(values, d));
  return finish(b, target, { dims: [...rows, d], a, b: table });
}

const anyOf = (type: TensorType): Content => (type === "f32" ? floats() : integers(type));

/** Parameter words that leave most sums of this spread between the clamps.
 *  @param low least and @param high largest sum */
function channelParameters(
  rng: Rng,
  target: Target,
  count: number,
  sums: { readonly low: number; readonly high: number; readonly spread: number },
): ChannelParameters[] {
  const zeroPoint = rng.chance(0.7) ? rng.int(110, 146) : undefined;
  const clamps = rng.chance(0.7) ? [0, 255] : [rng.int(0, 40), rng.int(215, 255)];
  // Powers of two bring ties; other scales have all their mantissa bits.
  const isPower = target.variant === 2 && rng.chance(0.4);
  const isRule = rng.chance(0.6);
  return Array.from({ length: count }, () => {
    const ideal = (rng.int(20, 60) / sums.spread) * (1 + rng.int(0, 2 ** 20) / 2 ** 21);
    const scale = isPower ? 2 ** Math.round(Math.log2(ideal)) : Math.fround(ideal);
    const [lower, upper] = clamps as [number, number];
    const common = {
      bias: 0,
      scaleBits: bitsOfFloat(scale),
      zeroPoint: zeroPoint ?? rng.int(100, 156),
      lower,
      upper,
      weightOffset: 0,
    };
    if (target.variant === 2) return { ...common, multiplier: 0, addend: 0n, shift: 0 };
    const rule = { scale, zeroPoint: common.zeroPoint, lower, upper };
    const form = isRule ? findIntegerForm(rule, sums.low, sums.high) : undefined;
    if (form !== undefined) return { ...common, multiplier: form.m, addend: form.b, shift: form.s };
    // A form of its own, near no binary32 rule; the scale beside it means nothing.
    let shift = rng.int(8, 30);
    while (shift > 0 && Math.max(-sums.low, sums.high) * scale * 2 ** shift >= 2 ** 50) shift--;
    const addend = BigInt(rng.int(0, 2 ** shift));
    return { ...common, multiplier: Math.round(scale * 2 ** shift), addend, shift, scaleBits: rng.u32() };
  });
}

/** Rows of activations times rows of activations: groups of rows that share a matrix, or one matrix for all. */
function activationDot(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const k = rng.chance(0.7)
    ? rng.int(1, rng.pick([4, 100]))
    : rng.pick([127, 128, 256, 511, 992, 1023, 1024]);
  const [matrices, n] = [rng.int(1, 4), rng.int(1, 30)];
  const share = Math.max(1, Math.min(Math.floor(30_000 / (k * matrices)), Math.floor(2400 / (n * matrices))));
  const [left, right] = [rng.pick(["u8", "s8"] as const), rng.pick(["u8", "s8"] as const)];
  const isFlat = rng.chance(0.5);
  const a = b.operand(integers(left), isFlat ? [matrices * share, k] : [matrices, share, k], false);
  const own = b.operand(integers(right), isFlat ? [matrices * n, k] : [matrices, n, k], rng.chance(0.3));
  return finish(b, target, { dims: [matrices, share, n], a, b: own, k: share });
}

function dot(b: DirectedBuilder, target: Target): Value {
  if (isActivationDot(target)) return activationDot(b, target);
  if (isPlanesDot(target)) return planesDot(b, target);
  const { rng } = b;
  const k = rng.chance(0.7) ? rng.int(1, rng.pick([4, 100])) : rng.pick([127, 128, 256, 511, 768, 991, 992]);
  const groups = rng.chance(0.6) ? 1 : rng.int(2, 6);
  const perGroup = rng.int(1, Math.max(1, Math.floor(80 / groups)));
  const n = groups * perGroup;
  const rows = Math.max(1, Math.min(Math.floor(30_000 / (k * groups)), Math.floor(2400 / n)));
  const leading = rng.chance(0.5) ? [rows] : [1, rows];
  const type = rng.pick(["u8", "s8"] as const);
  const a = b.operand(integers(type), rng.chance(0.5) ? [rows * groups, k] : [rows, groups, k], false);
  const offset = rng.pick([0, 128, 128, rng.int(1, 255)]);
  const differ = rng.chance(0.3);
  const offsets = Array.from({ length: n }, () => (differ ? rng.int(0, 255) : offset));
  const bytes = rng.bytes(n * k);
  const sumOf = (row: number): number => {
    let sum = 0;
    for (let i = 0; i < k; i++) sum += (bytes[row * k + i] as number) - (offsets[row] as number);
    return sum;
  };
  const spread = Math.sqrt(k) * 74 * Math.hypot(74, differ ? 74 : 127.5 - offset);
  const largest = 255 * 255 * k + 2 ** 17;
  const channels = channelParameters(rng, target, n, { low: -largest, high: largest, spread }).map(
    (channel, row) => ({
      ...channel,
      weightOffset: offsets[row] as number,
      bias: Math.round(-127.5 * sumOf(row)) + rng.int(-1000, 1000),
    }),
  );
  const weights = b.weight({ layout: "dot", type: "u8", dims: [n, k] }, packDot(bytes, k, channels));
  return finish(b, target, { dims: [...leading, n], a, b: weights, k: groups });
}

function requant(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const dims = largeDims(rng);
  const n = rng.chance(0.7) && lastDim(dims) <= 300 ? lastDim(dims) : 1;
  const bits = rng.int(8, 24);
  const bias = rng.chance(0.5) ? 0 : rng.int(-1000, 1000);
  const a = b.operand(integers("s32", -(2 ** bits), 2 ** bits), dims, false);
  const bounds = { low: -(2 ** bits) + bias, high: 2 ** bits + bias, spread: 2 ** bits / 1.7 };
  const channels = channelParameters(rng, target, n, bounds).map((c) => ({ ...c, bias }));
  const parameters = b.weight({ layout: "channel", type: "u8", dims: [n] }, packChannel(channels));
  return finish(b, target, { dims, a, b: parameters });
}

function rescale(b: DirectedBuilder, target: Target): Value {
  if (isRatio(target)) return ratio(b, target);
  if (isPlanes(target)) return planes(b, target);
  const { rng } = b;
  const dims = largeDims(rng);
  const n = rng.chance(0.7) && lastDim(dims) <= 300 ? lastDim(dims) : 1;
  const a = b.operand(integers("s32", -(2 ** 26), 2 ** 26), dims, false);
  const channels = Array.from({ length: n }, () => {
    const shift = rng.int(0, 24);
    return {
      bias: rng.int(-1000, 1000),
      multiplier: rng.int(1, 2 ** Math.min(24, shift + 4)),
      addend: BigInt(rng.int(-(2 ** shift), 2 ** shift)),
      shift,
      scaleBits: 0,
      zeroPoint: 0,
      lower: 0,
      upper: 0,
      weightOffset: 0,
    };
  });
  const parameters = b.weight({ layout: "channel", type: "u8", dims: [n] }, packChannel(channels));
  return finish(b, target, { dims, a, b: parameters });
}

function table(b: DirectedBuilder, target: Target): Value {
  const dims = largeDims(b.rng);
  const a = b.operand(integers(b.rng.pick(["u8", "s8", "u8", "s8", "bool"] as const)), dims, false);
  const entries = b.operand(integers("u8", 0, target.type === "bool" ? 1 : 255), [256], true);
  return finish(b, target, { dims, a, b: entries });
}

/** Ranges of the operands: s32 results never wrap; bytes saturate now and then. */
function arithRanges(rng: Rng, name: string, type: TensorType): readonly [number, number, number, number] {
  const product = { u8: 16, s8: 12, s32: 46_340 }[type as "u8" | "s8" | "s32"];
  const [low, high] = LIMITS[type as "u8" | "s8" | "s32"] ?? LIMITS.s32;
  switch (name) {
    case "add":
      return type === "s32"
        ? [low / 2, (high - 1) / 2, low / 2, (high - 1) / 2]
        : [low, Math.round(high * 0.8), low * 0.5, Math.round(high * 0.6)];
    case "sub":
      return type === "s32"
        ? [low / 2, (high - 1) / 2, low / 2, (high - 1) / 2]
        : type === "u8"
          ? [60, 255, -20, 120]
          : [-100, 100, -60, 60];
    case "mul":
      return [type === "u8" ? -2 : -product, product, type === "u8" ? -1 : -product, product];
    case "div":
      return type === "s32"
        ? [low, high, rng.pick([-2, 1]), rng.pick([10, 1000, high])]
        : [type === "u8" ? -20 : -300, 700, rng.pick([-1, 1]), rng.pick([4, 12])];
    default:
      return type === "u8"
        ? [-20, 275, -20, 275]
        : type === "s8"
          ? [-140, 140, -140, 140]
          : [low, high, low, high];
  }
}

function arith(b: DirectedBuilder, target: Target): Value {
  if (isRotate(target)) return rotate(b, target);
  const { rng } = b;
  const name = ARITH_VARIANTS[target.variant] as (typeof ARITH_VARIANTS)[number];
  const dims = largeDims(rng);
  const of = (low: number, high: number, types: readonly (typeof INTEGERS)[number][] = INTEGERS): Value => {
    const type = rng.chance(0.4) ? "s32" : rng.pick(types);
    const isSmall = high - low > 2000 && rng.chance(0.3);
    const content = isSmall
      ? integers(type, Math.max(low, -100), Math.min(high, 100))
      : integers(type, low, high);
    return b.operand(
      content.low > content.high ? integers("s32", low, high) : content,
      broadcastDims(rng, dims),
    );
  };
  if (name === "cast") {
    const ranges = {
      u8: [-40, 300],
      s8: [-160, 160],
      bool: [-1, 1],
      s32: [-(2 ** 31), 2 ** 31 - 1],
    } as const;
    const [low, high] = ranges[target.type as keyof typeof ranges];
    return finish(b, target, { dims, a: of(low, high) });
  }
  const [lowA, highA, lowB, highB] = arithRanges(rng, name, target.type);
  if (name === "lt" || name === "le" || name === "eq") {
    const reach = rng.pick([3, 100, 2 ** 31 - 1]);
    return finish(b, target, { dims, a: of(-reach, reach), b: of(-reach, reach) });
  }
  // Small numerators would leave most quotients at 0, where a u8 is clamped.
  const a = name === "div" ? of(lowA, highA, ["u8", "s32"]) : of(lowA, highA);
  return finish(b, target, { dims, a, b: of(lowB, highB) });
}

function float(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const name = FLOAT_VARIANTS[target.variant] as (typeof FLOAT_VARIANTS)[number];
  const dims = largeDims(rng);
  const real = (content: Content = floats()): Value => b.operand(content, broadcastDims(rng, dims));
  switch (name) {
    case "tofloat":
      return finish(b, target, { dims, a: real(integers(rng.pick(INTEGERS))) });
    case "toint": {
      const ranges = { u8: [-40, 300], s8: [-160, 160], bool: [-2, 2], s32: [-(2 ** 30), 2 ** 30] } as const;
      const [low, high] = ranges[target.type as keyof typeof ranges];
      return finish(b, target, {
        dims,
        a: real(target.type === "s32" ? floats(low, high) : evenFloats(low, high)),
      });
    }
    case "dequant":
    case "quant":
      return scaled(b, target, dims);
    case "lt":
    case "le":
    case "eq": {
      const reach = rng.pick([2, 100, 2 ** 20]);
      return finish(b, target, { dims, a: real(floats(-reach, reach)), b: real(floats(-reach, reach)) });
    }
    case "round": {
      const reach = rng.pick([8, 1000, 2 ** 20]);
      return finish(b, target, { dims, a: real(floats(-reach, reach)) });
    }
    case "sqrt":
      return finish(b, target, { dims, a: real(floats(0)) });
    case "div":
      return finish(b, target, { dims, a: real(), b: real(floats(2 ** -20)) });
    case "add":
    case "sub": {
      // A product that is rounded before it is added: what an FMA would not do.
      const variant = FLOAT_VARIANTS.indexOf("mul");
      const product = { opcode: "float", variant, type: "f32", dims } as const;
      const a = rng.chance(0.5)
        ? b.step({ ...product, a: real(floats(-1024, 1024)), b: real(floats(-1024, 1024)) })
        : real();
      return finish(b, target, { dims, a, b: real() });
    }
    default:
      return finish(b, target, { dims, a: real(), b: real() });
  }
}

/** Dequantization and quantization, per tensor or per channel. */
function scaled(b: DirectedBuilder, target: Target, dims: readonly number[]): Value {
  const { rng } = b;
  const channels = rng.chance(0.5) ? [lastDim(dims)] : [1];
  const exponent = rng.int(-10, 3);
  const isPower = rng.chance(0.4);
  const scale: Content = {
    type: "f32",
    low: 2 ** exponent,
    high: 2 ** (exponent + 1),
    pick: (from) =>
      isPower ? 2 ** exponent : Math.fround(2 ** exponent * (1 + from.int(0, 2 ** 23 - 1) / 2 ** 23)),
  };
  const b1 = b.operand(scale, channels, true);
  if (FLOAT_VARIANTS[target.variant] === "dequant") {
    const c = b.operand(integers("s32", -1000, 1000), channels, true);
    const a = b.operand(integers(rng.pick(INTEGERS), -(2 ** 24), 2 ** 24), broadcastDims(rng, dims), false);
    return finish(b, target, { dims, a, b: b1, c });
  }
  const middle = target.type === "u8" ? 128 : 0;
  const c = b.operand(integers("s32", middle - 20, middle + 20), channels, true);
  // Half of the quotients are an integer and a half where the scale is a power of two.
  const pick = (from: Rng): number =>
    from.chance(0.5)
      ? (from.int(-240, 240) / 2) * 2 ** exponent
      : Math.fround((from.int(-(2 ** 23), 2 ** 23) / 2 ** 23) * 170 * 2 ** exponent);
  const a = b.operand(
    { ...floats(-170 * 2 ** exponent, 170 * 2 ** exponent), pick },
    broadcastDims(rng, dims),
    false,
  );
  return finish(b, target, { dims, a, b: b1, c });
}

function select(b: DirectedBuilder, target: Target): Value {
  const dims = largeDims(b.rng);
  const of = (content: Content): Value => b.operand(content, broadcastDims(b.rng, dims));
  return finish(b, target, {
    dims,
    a: of(integers("bool")),
    b: of(anyOf(target.type)),
    c: of(anyOf(target.type)),
  });
}

export const DIRECTED_STEPS: Readonly<Record<Target["opcode"], Build>> = {
  lookup,
  dot,
  requant,
  rescale,
  table,
  arith,
  float,
  reduce,
  select,
};
