/** The last step of a directed program that divides rows. */
import type { Value } from "../../conformance/generate/program-builder.ts";
import { rowCount } from "../../inference/program/form.ts";
import type { DirectedBuilder, Target } from "./directed-builder.ts";
import { finish, INTEGERS, integers, largeDims } from "./directed-values.ts";

/** Divisors at least 1; s32 quotients below 2^31, and numerators below 2^62; bytes saturate now and then. */
export function ratio(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const dims = largeDims(rng);
  const k = rng.pick([1, rng.int(1, 300), rng.int(1, 2 ** 20), 2 ** 32 - 1]);
  const least = rng.pick([1, 2, 1000, 2 ** 20]);
  const most = rng.pick([least + 3, 2 * least, 2 ** 31 - 1]);
  const fits = Math.floor((target.type === "s32" ? (2 ** 31 - 1) * least : 2 ** 60) / k);
  const limit = Math.min(2 ** 31 - 1, fits, rng.chance(0.5) ? 2 ** 31 : Math.ceil((300 * most) / k));
  const a = b.operand(integers(rng.pick(limit < 255 ? ["s32"] : INTEGERS), -limit, limit), dims, false);
  const rows = dims.slice(0, -1);
  const own = rng.pick([[...rows, 1], rows.length === 0 ? [1] : rows, [rowCount(dims)]]);
  return finish(b, target, { dims, a, b: b.operand(integers("s32", least, most), own), k });
}
