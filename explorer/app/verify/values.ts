import type { TensorType } from "../../../inference/program/form.ts";
import { floatOfBits } from "../../../inference/program/tensor.ts";

/** The number that an element's stored bytes stand for. @param stored unsigned */
export function numberOf(type: TensorType, stored: number): number {
  if (type === "s8") return stored - 128;
  if (type === "s32") return stored | 0;
  return type === "f32" ? floatOfBits(stored) : stored;
}

/** An index such as `[0, 3, 17]` of the element with this number. */
export function indexOf(dims: readonly number[], element: number): number[] {
  let rest = element;
  return dims
    .toReversed()
    .map((dim) => {
      const i = rest % dim;
      rest = Math.floor(rest / dim);
      return i;
    })
    .reverse();
}
