/** What places do: they say which others a place may read, and turn queries and keys. */
import type { Operand } from "../../program/form.ts";
import { chosenRows, type QuantizedRows } from "../quantized-rows.ts";
import { bytes, product, type Wide } from "../steps.ts";
import type { Context } from "./context.ts";

export interface Places {
  /** bool [heads a shared head · places, places]: whether a place may read another */
  readonly allowed: Operand;
  /** s32 [places, channels of all heads], in units of 2^-TURN_BITS */
  readonly cosines: Operand;
  readonly sines: Operand;
}

const TURN_BITS = 14;

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
  const turns = (of: (angle: number) => number): Operand =>
    builder.plain(
      "s32",
      [places, channels],
      Int32Array.from({ length: places * channels }, (_, i) => {
        const pair = Math.floor((i % headWidth) / 2);
        const angle = Math.floor(i / channels) * base ** ((-2 * pair) / headWidth);
        return Math.round(of(angle) * 2 ** TURN_BITS);
      }),
    );
  return { allowed: builder.select(earlier, isText, own), cosines: turns(Math.cos), sines: turns(Math.sin) };
}

/** Fraction bits of what is turned, in steps of a query's or key's bytes. */
const STEP_BITS = 7;
/** With their sign: twice as large as the largest byte. */
const MOST_BITS = 8 + STEP_BITS;

/** Products whose pairs of neighbouring channels, as complex numbers, are turned by their places, as signed bytes.
 *  @param steps what 1 of each channel's bytes stands for, the same of both of a pair */
export function turned(
  { builder, places }: Context,
  { cosines, sines }: Places,
  x: Wide,
  rows: QuantizedRows,
  steps: readonly number[],
): Operand {
  // In the place of each channel the other one of its pair: -y and x beside x and y.
  const beside = chosenRows(
    rows,
    Array.from(rows.scales, (_, n) => (n % 2 === 0 ? { row: n + 1, sign: -1 } : { row: n - 1, sign: 1 })),
  );
  const result = { unit: steps.map((step) => step / 2 ** STEP_BITS), bits: MOST_BITS };
  const [straight, crossed] = [rows, beside].map((each) => product(builder, x, each, [places], result)) as [
    Operand,
    Operand,
  ];
  const numbers = builder.arith(
    "add",
    "s32",
    builder.arith("mul", "s32", straight, cosines),
    builder.arith("mul", "s32", crossed, sines),
  );
  return bytes(builder, numbers, [2 ** -(STEP_BITS + TURN_BITS)]);
}
