/** What directed steps are made of. */
import type { StepFields, Value } from "../../conformance/generate/program-builder.ts";
import type { Content, DirectedBuilder, Target } from "./directed-builder.ts";
import type { Rng } from "./rng.ts";

export const INTEGERS = ["u8", "s8", "s32", "bool"] as const;
export const LIMITS = {
  u8: [0, 255],
  s8: [-128, 127],
  bool: [0, 1],
  s32: [-(2 ** 31), 2 ** 31 - 1],
} as const;

export const integers = (
  type: keyof typeof LIMITS,
  low = LIMITS[type][0],
  high = LIMITS[type][1],
): Content => ({
  type,
  low: Math.max(low, LIMITS[type][0]),
  high: Math.min(high, LIMITS[type][1]),
});
export const floats = (low = -(2 ** 20), high = 2 ** 20): Content => ({ type: "f32", low, high });
/** As many large numbers as small ones, and halves. */
export const evenFloats = (low: number, high: number): Content => ({
  ...floats(low, high),
  pick: (rng) =>
    rng.chance(0.3)
      ? rng.int(2 * low, 2 * high) / 2
      : Math.fround(low + (rng.int(0, 2 ** 24) / 2 ** 24) * (high - low)),
});

/** Dims of rank 1 to 6 with 400 to 2,400 elements. */
export function largeDims(rng: Rng, most = 2400): number[] {
  const rank = rng.int(1, 6);
  const dims: number[] = [];
  let room = rng.int(Math.ceil(most / 6), most);
  for (let axis = 0; axis < rank - 1; axis++) {
    const dim = rng.int(1, Math.min(room, axis === 0 ? 64 : 8));
    dims.push(dim);
    room = Math.floor(room / dim);
  }
  return [...dims, room];
}

export const finish = (
  b: DirectedBuilder,
  { opcode, variant, type }: Target,
  fields: Omit<StepFields, keyof Target>,
): Value => b.step({ opcode, variant, type, ...fields });
