/** The last step of a directed program that takes an element of a table by how far each number is below its row's largest. */
import type { Value } from "../../conformance/generate/program-builder.ts";
import type { DirectedBuilder, Target } from "./directed-builder.ts";
import { finish, floats, integers } from "./directed-values.ts";

const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];

/** Rows of up to 1,024 numbers, near each other or at the ends of s32; masks of which few places count, none, or all, whose
 *  rows broadcast; tables of one element and of 16 bits. */
export function below(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const length = rng.chance(0.1) ? rng.int(1023, 1024) : rng.int(1, rng.pick([4, 40, 300]));
  const outer = Array.from({ length: rng.int(0, 4) }, () => rng.int(1, length > 300 ? 2 : 5));
  const v = rng.pick([1, 2, rng.int(3, 300), rng.int(3, 300), 65_536]);
  const isFar = rng.chance(0.3);
  const numbers = {
    ...integers("s32", LEAST, MOST),
    pick: (own: typeof rng) =>
      isFar ? own.pick([LEAST, LEAST + 1, -1, 0, MOST - 1, MOST]) : own.int(-v, Math.floor(v / 2) + 2),
  };
  const dims = [...outer, length];
  const a = b.operand(numbers, dims, false);
  const table = b.operand(target.type === "f32" ? floats() : integers(target.type), [v, 1], true);
  if (rng.chance(0.2)) return finish(b, target, { dims, a, b: table });
  const share = rng.pick([0, 0.1, 0.5, 0.9, 1]);
  const counts = { ...integers("bool"), pick: (own: typeof rng) => Number(own.chance(share)) };
  const kept = outer.slice(rng.int(0, outer.length)).map((dim) => (rng.chance(0.3) ? 1 : dim));
  const mask = b.operand(counts, [...kept, length], rng.chance(0.3));
  return finish(b, target, { dims, a, b: table, c: mask });
}
