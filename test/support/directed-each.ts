/** The last step of a directed program that takes an element of a table for each id. */
import type { Value } from "../../conformance/generate/program-builder.ts";
import type { DirectedBuilder, Target } from "./directed-builder.ts";
import { finish, floats, integers, largeDims } from "./directed-values.ts";

const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];

/** Ids below 0, at the table's ends, behind it and at the ends of s32; tables of one element and of 16 bits. */
export function each(b: DirectedBuilder, target: Target): Value {
  const { rng } = b;
  const v = rng.pick([1, 2, rng.int(3, 300), rng.int(3, 300), 65_536]);
  const edges = [LEAST, -1, 0, v - 1, v, MOST];
  const ids = {
    ...integers("s32", LEAST, MOST),
    pick: (own: typeof rng) => (own.chance(0.2) ? own.pick(edges) : own.int(-3, v + 2)),
  };
  const dims = largeDims(rng);
  const a = b.operand(ids, dims, false);
  const table = b.operand(target.type === "f32" ? floats() : integers(target.type), [v, 1], true);
  return finish(b, target, { dims, a, b: table });
}
