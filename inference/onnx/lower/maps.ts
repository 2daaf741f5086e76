/** float32 functions of one byte, by stored byte: what lies between DequantizeLinear and QuantizeLinear becomes one
 *  table, however many nodes compute it. With `--arithmetic integers` functions of 16 bits do too. */

import { MAPPED } from "../budget.ts";
import { count } from "../graph.ts";
import { knownTensor } from "./fold.ts";
import type { Lowering } from "./lowering.ts";
import { mapOf, wideMapOf } from "./number-maps.ts";
import { dimsOf, type MappedValue, type Value } from "./values.ts";

/** `f` of a function of a byte; undefined for anything else. */
export function mapThrough(ctx: Lowering, value: Value, f: (x: number) => number): MappedValue | undefined {
  const mapped = mapOf(ctx, value);
  if (mapped === undefined) return undefined;
  ctx.builder.budget.spend(MAPPED * mapped.map.length);
  return { kind: "mapped", source: mapped.source, map: mapped.map.map((x) => Math.fround(f(x))) };
}

/** `f` of a dequantized 16-bit tensor with one scale, as 65,536 numbers; undefined for anything else. For functions that
 *  no step computes: others take less as steps. */
export function mapWide(ctx: Lowering, value: Value, f: (x: number) => number): MappedValue | undefined {
  const mapped = wideMapOf(ctx, value);
  return mapped === undefined ? undefined : { kind: "mapped", source: mapped.source, map: mapped.map.map(f) };
}

/** `f` from left to right of functions of the same bytes and constants of one element; undefined for anything else.
 *  @param f exact in binary64 before its result is rounded, or monotone in it */
export function combinedMaps(
  ctx: Lowering,
  values: readonly Value[],
  f: (x: number, y: number) => number,
): MappedValue | undefined {
  const maps = values.map((value) => mapOf(ctx, value));
  const first = maps.find((map) => map !== undefined);
  if (first === undefined) return undefined;
  const { source } = first;
  const operands: ((byte: number) => number)[] = [];
  for (const [i, value] of values.entries()) {
    const map = maps[i];
    if (map !== undefined) {
      const same = map.source.operand === source.operand && map.source.dims.join() === source.dims.join();
      if (!same || map.source.layout?.join() !== source.layout?.join()) return undefined;
      operands.push((byte) => map.map[byte] as number);
      continue;
    }
    const known = knownTensor(value);
    if (known === undefined || count(known.dims) !== 1 || dimsOf(value).length > source.dims.length)
      return undefined;
    operands.push(() => Number(known.data[0]));
  }
  ctx.builder.budget.spend(MAPPED * first.map.length * values.length);
  const [start = () => 0, ...others] = operands;
  const combined = first.map.map((_, at) => {
    let x = start(at);
    for (const operand of others) x = Math.fround(f(x, operand(at)));
    return x;
  });
  return { kind: "mapped", source, map: combined };
}
