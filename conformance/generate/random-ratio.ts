/** The step that divides rows by elements of another tensor. */
import { variantCode } from "../../inference/program/codes.ts";
import { elementCount } from "../../inference/program/form.ts";
import { type ProgramBuilder, randomDims, type Value } from "./program-builder.ts";
import type { Range } from "./random-values.ts";

const INTEGERS = ["u8", "s8", "s32", "bool"] as const;

const range = (low: number, high: number): Range => ({ low, high, quantum: 0 });

/** Of sane programs: divisors at least 1, s32 quotients below 2^31 and numerators below 2^62. */
export function ratio(b: ProgramBuilder): Value {
  const { rng } = b;
  const type = rng.pick(["u8", "s8", "s32"] as const);
  const dims = randomDims(rng, 160);
  const rows = dims.slice(0, -1);
  const k = rng.pick([1, rng.int(1, 300), rng.int(1, 2 ** 20), 2 ** 32 - 1]);
  const least = rng.pick([1, 1000, 2 ** 20]);
  const limit = Math.min(2 ** 31 - 1, Math.floor((type === "s32" ? (2 ** 31 - 1) * least : 2 ** 60) / k));
  const a = b.clamp(b.value(INTEGERS, dims), range(-limit, limit));
  return b.step({
    opcode: "rescale",
    variant: variantCode("rescale", "ratio"),
    type,
    dims,
    a,
    b: divisorsOf(b, rows, least),
    k,
  });
}

/** One for each row, whatever their dims. @param rows dims of the rows @param least of sane programs */
export function divisorsOf(b: ProgramBuilder, rows: readonly number[], least: number): Value {
  const own = b.rng.pick([[...rows, 1], rows.length === 0 ? [1] : rows, [elementCount(rows)]]);
  return b.clamp(b.value(["s32"], own), range(least, 2 ** 31 - 1));
}
