/** What places do: they say which others a place may read, and turn queries and keys. */
import type { Operand } from "../../program/form.ts";
import type { QuantizedRows } from "../quantized-rows.ts";
import { product, type Wide } from "../steps.ts";
import type { Context } from "./context.ts";

export interface Places {
  /** bool [heads a shared head · places, places]: whether a place may read another */
  readonly allowed: Operand;
  /** s32 [places, channels of all heads]: of each pair of channels the cosine and the sine, in units of 2^-TURN_BITS */
  readonly turns: Operand;
}

const TURN_BITS = 15;

/** A place reads those before it that hold an id, and itself.
 *  @param isText bool [1, places]: whether a place holds an id */
export function placesOf({ builder, shape, places }: Context, isText: Operand): Places {
  const { heads, sharedHeads, headWidth, base } = shape;
  const share = heads / sharedHeads;
  const table = (is: (row: number, column: number) => boolean): Operand => {
    const bits = new Uint8Array(share * places ** 2);
    for (let i = 0; i < bits.length; i++) bits[i] = Number(is(Math.floor(i / places) % places, i % places));
    return builder.plain("bool", [share * places, places], bits);
  };
  const earlier = table((row, column) => column < row);
  const own = table((row, column) => column === row);
  const channels = (heads + sharedHeads) * headWidth;
  const turns = Int32Array.from({ length: places * channels }, (_, i) => {
    const pair = Math.floor((i % headWidth) / 2);
    const angle = Math.floor(i / channels) * base ** ((-2 * pair) / headWidth);
    return Math.round((i % 2 === 0 ? Math.cos(angle) : Math.sin(angle)) * 2 ** TURN_BITS);
  });
  return {
    allowed: builder.select(earlier, isText, own),
    turns: builder.plain("s32", [places, channels], turns),
  };
}

/** Fraction bits of what is turned, in steps of a query's or key's bytes. */
const STEP_BITS = 12;
/** Of their size: 32 times the largest byte, and doubles hold products with turns. */
const MOST_BITS = 7 + STEP_BITS + 5;

/** Products whose pairs of neighbouring channels, as complex numbers, are turned by their places, as signed bytes.
 *  @param steps what 1 of each channel's bytes stands for, the same of both of a pair */
export function turned(
  { builder, places }: Context,
  { turns }: Places,
  x: Wide,
  rows: QuantizedRows,
  steps: readonly number[],
): Operand {
  const result = { unit: steps.map((step) => step / 2 ** STEP_BITS), bits: MOST_BITS };
  const numbers = product(builder, x, rows, [places], result);
  return builder.rotate("s8", numbers, turns, TURN_BITS + STEP_BITS);
}
