import type { TensorData, TensorType } from "../program/form.ts";

/** Stores numbers under `sat` of the output type. Source: docs/EXACT.md, section 1.
 *  @param numbers within s32, as many as `out` has */
export function saturateInto(out: TensorData, type: TensorType, numbers: Int32Array): void {
  const count = out.length;
  if (type === "s32") {
    out.set(numbers);
  } else if (type === "bool") {
    for (let i = 0; i < count; i++) out[i] = numbers[i] === 0 ? 0 : 1;
  } else {
    const offset = type === "s8" ? 128 : 0;
    for (let i = 0; i < count; i++) {
      const n = numbers[i] as number;
      out[i] = n < -offset ? 0 : n > 255 - offset ? 255 : n + offset;
    }
  }
}
