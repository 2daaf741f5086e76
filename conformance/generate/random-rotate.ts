/** The step that turns pairs of neighbours. */
import { variantCode } from "../../inference/program/codes.ts";
import { type ProgramBuilder, randomDims, type Value } from "./program-builder.ts";
import type { Range } from "./random-values.ts";

const range = (size: number): Range => ({ low: -size, high: size, quantum: 0 });

/** Of sane programs: sums of two products below 2^62. */
export function rotate(b: ProgramBuilder): Value {
  const { rng } = b;
  const dims = [...randomDims(rng, 12, rng.int(0, 5)), 2 * rng.int(1, 12)];
  const size = 2 ** rng.int(4, 31);
  const limits = [size, Math.min(2 ** 31, 2 ** 60 / size)].map((most) => Math.min(2 ** 31 - 1, most));
  const [a, turns] = (rng.chance(0.5) ? limits : limits.toReversed()).map((limit) =>
    b.clamp(b.value(["s32"], operandDims(b, dims)), range(limit)),
  ) as [Value, Value];
  const k = rng.pick([0, 1, 14, 31, rng.int(0, 31)]);
  return b.step({
    opcode: "arith",
    variant: variantCode("arith", "rotate"),
    type: rng.pick(["s32", "s32", "u8", "s8"]),
    dims,
    a,
    b: turns,
    k,
  });
}

/** Dims that broadcast to the output's along all axes but the last. */
function operandDims({ rng }: ProgramBuilder, dims: readonly number[]): readonly number[] {
  if (rng.chance(0.5)) return dims;
  const kept = dims.slice(rng.int(0, dims.length - 1));
  return kept.map((dim, axis) => (axis < kept.length - 1 && rng.chance(0.3) ? 1 : dim));
}
