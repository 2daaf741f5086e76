/** The steps that reduce rows. */
import { variantCode } from "../../inference/program/codes.ts";
import { elementBytes, REDUCE_VARIANTS } from "../../inference/program/form.ts";
import { type ProgramBuilder, randomDims, type Value } from "./program-builder.ts";
import type { Range } from "./random-values.ts";

const INTEGERS = ["u8", "s8", "s32", "bool"] as const;

const range = (low: number, high: number): Range => ({ low, high, quantum: 0 });

/** The lengths of rows; of sane programs below 2^31. */
function norm(b: ProgramBuilder): Value {
  const { rng } = b;
  const type = rng.pick(INTEGERS);
  const last = rng.chance(0.9) ? rng.int(1, 40) : rng.pick([1024, 8192]) / elementBytes(type);
  const rows = last > 40 ? [rng.int(1, 2)] : randomDims(rng, 16, rng.int(1, 4));
  const k = rng.pick([0, 1, rng.u32(), 2 ** 32 - 1]);
  const limit = Math.floor(Math.sqrt((2 ** 62 - 2 ** 33) / last)) - 1;
  const a = b.clamp(b.value([type], [...rows, last]), range(-limit, limit));
  const dims = rng.chance(0.5) ? [...rows, 1] : rows;
  return b.step(
    { opcode: "reduce", variant: variantCode("reduce", "norm"), type: "s32", dims, a, k },
    range(0, 2 ** 31 - 1),
  );
}

/** A row's sum, extreme or norm. */
export function reduce(b: ProgramBuilder): Value {
  const { rng } = b;
  if (rng.chance(0.25)) return norm(b);
  const variant = rng.int(0, variantCode("reduce", "max"));
  const type = rng.pick(INTEGERS);
  const last = rng.chance(0.9) ? rng.int(1, 40) : rng.pick([256, 257, 1024]);
  const rows = last > 40 ? [rng.int(1, 2)] : randomDims(rng, 16, rng.int(1, 4));
  const source = b.value([type], [...rows, last]);
  const sum = REDUCE_VARIANTS[variant] === "sum";
  const limit = Math.floor(2 ** 31 / last) - 1;
  const a = sum ? b.clamp(source, range(-limit, limit)) : source;
  const dims = rng.chance(0.5) ? [...rows, 1] : rows;
  const result = sum ? range(a.range.low * last, a.range.high * last) : a.range;
  return b.step({ opcode: "reduce", variant, type: sum ? "s32" : a.type, dims, a }, result);
}
