/** The last step of a directed program that reduces rows. */
import type { Value } from "../../conformance/generate/program-builder.ts";
import { elementBytes, isNorm, REDUCE_VARIANTS } from "../../inference/program/form.ts";
import type { DirectedBuilder, Target } from "./directed-builder.ts";
import { finish, INTEGERS, integers, largeDims } from "./directed-values.ts";

/** Rows up to 8 KB whose sums of squares stay below 2^62. */
function norm(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  // Sums of rows of one number are squares, or next to them: no double holds the largest.
  const isSquare = rng.chance(0.2);
  const type = isSquare ? "s32" : rng.pick(INTEGERS);
  const size = elementBytes(type);
  const length = rng.chance(0.8)
    ? rng.int(1, isSquare ? 1 : 100)
    : rng.pick([1023, 1024, 1025, 4095, 8191, 8192].map((n) => Math.ceil(n / size)));
  const rows = largeDims(rng, Math.max(6, Math.min(2400, Math.floor(56_000 / (length * size))))).slice(-5);
  const most = Math.floor(Math.sqrt((2 ** 62 - 2 ** 33) / length)) - 1;
  const limit = isSquare ? most : rng.pick([1, 100, 2 ** 16, 2 ** 24, most].filter((bound) => bound <= most));
  const a = b.operand(integers(type, -limit, limit), [...rows, length], false);
  const dims = rng.chance(0.5) ? [...rows, 1] : rows;
  return finish(b, target, {
    dims,
    a,
    k: isSquare ? rng.int(0, 1) : rng.pick([0, 1, rng.u32(), 2 ** 32 - 1]),
  });
}

export function reduce(b: DirectedBuilder, target: Target): Value {
  if (isNorm(target)) return norm(b, target);
  const { rng } = b;
  const isSum = REDUCE_VARIANTS[target.variant] === "sum";
  const type = isSum ? rng.pick(INTEGERS) : (target.type as (typeof INTEGERS)[number]);
  const size = elementBytes(type);
  const length = rng.chance(0.8) ? rng.int(1, 32 / size) : rng.int(32 / size, 1024);
  const rows = largeDims(rng, Math.min(2400, Math.floor(56_000 / (length * size))));
  const limit = Math.floor(2 ** 31 / length) - 1;
  const a = b.operand(
    isSum ? integers(type, -limit, limit) : integers(type),
    [...rows.slice(-5), length],
    false,
  );
  const kept = rows.slice(-5);
  const dims = rng.chance(0.5) ? [...kept, 1] : kept;
  return finish(b, target, { dims, a });
}
