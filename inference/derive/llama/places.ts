/** What places do: they say which others a place may read, and turn queries and keys. */
import type { Operand } from "../../program/form.ts";
import { chosenRows, joinedRows, type QuantizedRows } from "../quantized-rows.ts";
import { largest, product, scaled, sizeOf, type Wide } from "../steps.ts";
import type { Context } from "./context.ts";

export interface Places {
  /** bool [heads a shared head · places, places]: whether a place may read another */
  readonly allowed: Operand;
  /** s32 [places, channels of all heads], in units of 2^-TURN_BITS */
  readonly cosines: Operand;
  readonly sines: Operand;
}

const TURN_BITS = 14;
/** Of what is turned: two products of it fit s32. */
const MOST_TURNED = 2 ** 15.9;

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

export interface Turned {
  /** s32 [places, channels of all heads] */
  readonly numbers: Operand;
  readonly unit: number;
}

/** Products whose pairs of neighbouring channels, as complex numbers, are turned by their places. */
export function turned(
  { builder, places }: Context,
  { cosines, sines }: Places,
  x: Wide,
  weights: readonly QuantizedRows[],
): Turned {
  const rows = joinedRows(weights);
  // In the place of each channel the other one of its pair: -y and x beside x and y.
  const beside = chosenRows(
    rows,
    Array.from(rows.scales, (_, n) => (n % 2 === 0 ? { row: n + 1, sign: -1 } : { row: n - 1, sign: 1 })),
  );
  const all = [rows, beside].map((each) => product(builder, x, each, [places]));
  const size = Math.max(...all.map(({ sums, units }) => largest(units) * sizeOf(builder, sums)));
  const unit = size / MOST_TURNED;
  const [straight, crossed] = all.map(({ sums, units }) =>
    scaled(
      builder,
      sums,
      units.map((own) => own / unit),
    ),
  ) as [Operand, Operand];
  const numbers = builder.arith(
    "add",
    "s32",
    builder.arith("mul", "s32", straight, cosines),
    builder.arith("mul", "s32", crossed, sines),
  );
  return { numbers, unit: unit / 2 ** TURN_BITS };
}
