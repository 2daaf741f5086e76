/** How people read a model's output: what its manifest says of names, scales and units. Nothing that is computed depends
 *  on it and no id commits to it: whoever writes the manifest chooses these words. */

import { sizeOf } from "../manifest/numbers.ts";
import type { OutputCodec } from "../program/form.ts";

/** How a number of the output is written: number / scale, with `decimals` digits, the unit behind it. */
export interface NumberForm {
  /** steps of the output in one unit; default 1 */
  readonly scale?: number;
  readonly unit?: string;
  /** digits behind the point; default 0 */
  readonly decimals?: number;
  /** writes a plus before what is positive */
  readonly sign?: boolean;
  /** what the whole is followed by, such as `tomorrow` */
  readonly suffix?: string;
}

/** One class of several. Probabilities are for display: softmax of score / scale, in floating point. */
export interface ClassesMeaning {
  readonly kind: "classes";
  /** what the classes are called, in order */
  readonly labels: readonly string[];
  /** place of the number that says which class; absent: the class of the greatest score, the first of equals */
  readonly index?: number;
  /** one score a class, in a row */
  readonly scores?: { readonly first: number; readonly count: number };
  /** steps of a score in one nat, the temperature included; absent: scores are no probabilities */
  readonly scale?: number;
}

export interface QuantilesMeaning extends NumberForm {
  readonly kind: "quantiles";
  /** of each number, percent, ascending */
  readonly quantiles: readonly number[];
  /** place of the first; default 0 */
  readonly first?: number;
}

export interface NumbersMeaning extends NumberForm {
  readonly kind: "numbers";
  /** which numbers are shown first, by place, and what they are called */
  readonly show: readonly { readonly place: number; readonly name?: string }[];
}

/** A place counts the numbers of the output from 0: words, or 16-bit numbers of the codec int16s. */
export type Meaning = ClassesMeaning | QuantilesMeaning | NumbersMeaning;

/** The part of a manifest's `assay` section that says how an output is read. */
export interface Readable {
  readonly meaning?: Meaning;
  readonly codec: { readonly output: OutputCodec };
  /** bytes */
  readonly outputLength: number;
  readonly outputs: readonly { readonly dims: readonly number[]; readonly offset: number }[];
}

/** Numbers of an output of this form; undefined for bytes, which are read by no place. */
export function numberCount({ codec, outputLength, outputs }: Omit<Readable, "meaning">): number | undefined {
  if (codec.output === "words") return outputLength / 32;
  if (codec.output === "raw") return undefined;
  return Math.max(0, ...outputs.map(({ dims, offset }) => offset + sizeOf({ dims })));
}
