/** What each part of a layer reads of the residual: its rows, normalized. */
import type { Operand } from "../../program/form.ts";
import { tensorOf } from "../entries.ts";
import { reals } from "../gguf.ts";
import { NORMAL_BITS, RESIDUAL_BITS } from "../residual.ts";
import { changedWide, MOST, type Wide } from "../steps.ts";
import type { Context } from "./context.ts";

/** Rows divided by their root mean square, times the gain; where a gain is negative, with the other sign.
 *  @param most largest size that is kept */
export function normalized(
  { builder, file, shape: { width, epsilon }, places }: Context,
  state: Operand,
  gainName: string,
  most: number,
): Wide {
  const gains = reals(file, tensorOf(file, gainName));
  const addend = Math.max(1, Math.round(width * epsilon * 4 ** RESIDUAL_BITS));
  const length = builder.norm(state, addend, [places, 1]);
  const multiplier = Math.round(Math.sqrt(width) * 2 ** NORMAL_BITS);
  const unit = most / MOST;
  const factors = Array.from(gains, (gain) => Math.abs(gain) / unit / 2 ** NORMAL_BITS);
  // No element is longer than its row.
  const found = changedWide(builder, state, { by: length, multiplier }, multiplier, factors, unit);
  return { ...found, signs: Array.from(gains, (gain) => (gain < 0 ? -1 : 1)) };
}
