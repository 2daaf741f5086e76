/** The last step of a directed program that turns pairs of neighbours. */
import type { Value } from "../../conformance/generate/program-builder.ts";
import type { DirectedBuilder, Target } from "./directed-builder.ts";
import { finish, integers, largeDims } from "./directed-values.ts";

/** Sums of two products below 2^62, where doubles hold them and where they do not; results that saturate now and then. */
export function rotate(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const dims = largeDims(rng);
  const last = dims.length - 1;
  dims[last] = 2 * Math.ceil((dims[last] as number) / 2);
  const isByte = target.type !== "s32";
  const bits = rng.int(1, isByte ? 20 : 31);
  const other = isByte ? rng.int(1, 16) : Math.min(31, rng.pick([15, 60 - bits, rng.int(1, 60 - bits)]));
  const shifts = [0, Math.min(31, other), Math.min(31, Math.max(0, bits + other - 30)), rng.int(0, 31)];
  const byteShift = Math.min(31, Math.max(0, bits + other - rng.int(5, 7)));
  const k = isByte && rng.chance(0.9) ? byteShift : rng.pick(shifts);
  const operand = (size: number): Value => {
    const most = Math.min(2 ** 31 - 1, 2 ** size);
    // Bytes without a sign: the second of a pair is not below 0, and half of the first ones.
    const least = target.type === "u8" && rng.chance(0.8) ? 0 : -most;
    const own = rng.chance(0.6) ? dims : dims.slice(rng.int(0, last));
    const kept = own.map((dim, axis) => (axis < own.length - 1 && rng.chance(0.2) ? 1 : dim));
    return b.operand(integers("s32", least, most), kept);
  };
  return finish(b, target, { dims, a: operand(bits), b: operand(other), k });
}
