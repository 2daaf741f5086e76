import type { TensorData } from "../program/form.ts";

/** Elements from which a copy of the engine's is faster than a loop. */
const LONG_COPY = 128;

/** Copies `count` elements from `from` on to `to` on, between arrays of one type. */
export function copyElements(
  target: TensorData,
  to: number,
  source: TensorData,
  from: number,
  count: number,
): void {
  if (count >= LONG_COPY) target.set(source.subarray(from, from + count), to);
  else for (let i = 0; i < count; i++) target[to + i] = source[from + i] as number;
}
