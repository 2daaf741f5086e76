/** Numbers of 16 bits as products by WebAssembly's vectors take them. */
import { advance, get, moved, number32, OP, set, times, V128, type WasmFunction } from "../wasm.ts";
import type { WeightRows } from "./products.ts";
import {
  addInt32s,
  dotInt16s,
  exclusiveOr,
  lane,
  loadVector,
  pattern,
  shuffleBytes,
  storeVector,
} from "./simd.ts";

/** What a number of 16 bits is above the signed one that is multiplied. */
export const MIDDLE = 32_768;
/** Elements that a round takes, whose order weights in words turn round; and those of a vector. */
const [GROUP, EIGHT] = [32, 8];

/** Of a row of numbers u the signed ones, and Σ u. Parameters: the high bytes, behind the row those of MIDDLE; the low ones;
 *  the row, and its end; what Σ starts from less MIDDLE for each number; where Σ goes. Locals: 16 high bytes and as many
 *  low ones, twice; eight numbers; and their sums. */
function body(layout: WeightRows["layout"]): number[] {
  const [high, low, to, toEnd, start, total] = [0, 1, 2, 3, 4, 5];
  const [stored, eight, sums] = [6, 10, 11];
  const isWords = layout === "words";
  const load = (half: number): number[] => [
    ...[...get(high), ...loadVector(16 * half), ...set(stored + half)],
    ...[...get(low), ...loadVector(16 * half), ...set(stored + 2 + half)],
  ];
  const store = (part: number): number[] => {
    const elements = times(EIGHT, (i) => [isWords ? GROUP - 1 - EIGHT * part - i : EIGHT * part + i]);
    const half = (elements[0] as number) < 16 ? 0 : 1;
    const bytes = elements.flatMap((element) => [element % 16, 16 + (element % 16)]);
    return [
      ...[...get(to), ...get(stored + 2 + half), ...get(stored + half), ...shuffleBytes(...bytes)],
      ...[...pattern(0, 0x80), ...exclusiveOr, OP.tee, eight, ...storeVector(2 * EIGHT * part)],
      ...[...get(eight), ...pattern(1, 0), ...dotInt16s, ...get(sums), ...addInt32s, ...set(sums)],
    ];
  };
  return [
    ...OP.loop,
    ...times(2, load),
    ...times(GROUP / EIGHT, store),
    ...[...moved(high, number32(GROUP)), ...moved(low, number32(GROUP))],
    ...advance(to, number32(2 * GROUP), get(toEnd)),
    ...[...get(total), ...get(start)],
    ...times(4, (index) => [...get(sums), ...lane(index), OP.add32]),
    ...[OP.store32, 0, 0],
  ];
}

/** Of weights in that layout. */
export const numbersOf = (layout: WeightRows["layout"]): WasmFunction<"numbers"> => ({
  name: "numbers",
  parameters: 6,
  locals: [[6, V128]],
  body: body(layout),
});
