/** float32 functions of one byte, by stored byte: what lies between DequantizeLinear and QuantizeLinear becomes one
 *  table, however many nodes compute it. */

import { count } from "../graph.ts";
import { knownTensor } from "./fold.ts";
import { dequantized, isWide, LIMITS } from "./quantization.ts";
import { mapOf } from "./quantize.ts";
import { dimsOf, type MappedValue, type Value } from "./values.ts";

/** `f` of a function of a byte; undefined for anything else. */
export function mapThrough(value: Value, f: (x: number) => number): MappedValue | undefined {
  const mapped = mapOf(value);
  return mapped === undefined
    ? undefined
    : { kind: "mapped", source: mapped.source, map: mapped.map.map((x) => Math.fround(f(x))) };
}

/** `f` of a dequantized 16-bit tensor with one scale, as 65,536 numbers; undefined for anything else. For functions that
 *  no step computes: others take less as steps. */
export function mapWide(value: Value, f: (x: number) => number): MappedValue | undefined {
  if (value.kind !== "dequantized" || value.source.kind !== "tensor" || value.scale.length !== 1)
    return undefined;
  const { source, scale, zero } = value;
  if (!isWide(source.onnx)) return undefined;
  const [least, most] = LIMITS[source.onnx === "int16" ? "s16" : "u16"];
  const map = Float32Array.from({ length: most - least + 1 }, (_, i) =>
    f(dequantized(least + i, scale[0] as number, zero[0] as number)),
  );
  return { kind: "mapped", source, map };
}

/** `f` from left to right of functions of the same bytes and constants of one element; undefined for anything else.
 *  @param f exact in binary64 before its result is rounded, or monotone in it */
export function combinedMaps(
  values: readonly Value[],
  f: (x: number, y: number) => number,
): MappedValue | undefined {
  const maps = values.map(mapOf);
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
  const combined = Float32Array.from({ length: first.map.length }, (_, byte) =>
    operands.map((operand) => operand(byte)).reduce((x, y) => Math.fround(f(x, y))),
  );
  return { kind: "mapped", source, map: combined };
}
