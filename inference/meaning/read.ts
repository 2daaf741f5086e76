/** Reads an output by its manifest's `meaning`: one line for people, and the values that it is made of. */

import { BaseError, isBaseError } from "../../base/errors.ts";
import { decodeAbi, readWord } from "../codecs/abi.ts";
import { readInt16s } from "../codecs/int16s.ts";
import { plainDecimal, rounded, shownDecimal } from "./decimal.ts";
import {
  type ClassesMeaning,
  type Meaning,
  type NumberForm,
  type NumbersMeaning,
  numberCount,
  type QuantilesMeaning,
  type Readable,
} from "./form.ts";

export interface ClassesReading {
  readonly kind: "classes";
  readonly text: string;
  /** absent: the output names no class that there is */
  readonly index?: number;
  readonly label?: string;
  /** of the class, 0 to 1, four decimals; absent where the scores are none */
  readonly probability?: number;
  /** all that there are, in order */
  readonly classes: readonly { readonly label: string; readonly probability?: number }[];
}

/** A value as it is shown, in `unit`: rounded half away from zero to the decimals of its text. */
export interface ShownValue {
  readonly value: number;
  readonly text: string;
}

export interface QuantilesReading {
  readonly kind: "quantiles";
  readonly text: string;
  readonly unit?: string;
  readonly quantiles: readonly (ShownValue & { readonly percent: number })[];
}

export interface NumbersReading {
  readonly kind: "numbers";
  readonly text: string;
  readonly unit?: string;
  readonly shown: readonly (ShownValue & { readonly name?: string })[];
}

/** JSON throughout. */
export type Reading = ClassesReading | QuantilesReading | NumbersReading;

/** A reading with the numbers that it was made from. */
export interface ReadOutput {
  readonly reading: Reading;
  readonly numbers: readonly bigint[];
}

/** Words may hold anything; the other codecs' outputs have a form.
 *  @returns undefined where the manifest says nothing of it
 *  @throws BaseError OUTPUT_INVALID for bytes that no tensor of this model encodes to */
export function readOutput(section: Readable, output: Uint8Array): ReadOutput | undefined {
  const { meaning } = section;
  if (meaning === undefined) return undefined;
  const numbers = numbersOf(section, output);
  return { reading: readNumbers(meaning, numbers), numbers };
}

/** The reading as a field of an answer, beside the output that it reads; none where the manifest says nothing of it.
 *  @throws BaseError OUTPUT_INVALID as readOutput */
export function meaningOf(section: Readable | undefined, output: Uint8Array): { readonly meaning?: Reading } {
  const read = section === undefined ? undefined : readOutput(section, output);
  return read === undefined ? {} : { meaning: read.reading };
}

/** The same for bytes that nobody has judged yet, such as a claim's: none for what no tensor encodes to. */
export function meaningIfAny(
  section: Readable | undefined,
  output: Uint8Array,
): { readonly meaning?: Reading } {
  try {
    return meaningOf(section, output);
  } catch (error) {
    if (isBaseError(error, "OUTPUT_INVALID")) return {};
    throw error;
  }
}

/** @param numbers all of the output, as many as the checked meaning was checked against */
export function readNumbers(meaning: Meaning, numbers: readonly bigint[]): Reading {
  switch (meaning.kind) {
    case "classes":
      return readClasses(meaning, numbers);
    case "quantiles":
      return readQuantiles(meaning, numbers);
    case "numbers":
      return readShown(meaning, numbers);
  }
}

function numbersOf(section: Readable, output: Uint8Array): bigint[] {
  const { codec, outputLength } = section;
  const count = numberCount(section);
  if (output.length !== outputLength || count === undefined)
    throw invalid(`it has ${output.length} bytes, must have ${outputLength}`);
  if (codec.output === "words")
    return Array.from({ length: count }, (_, place) => BigInt.asIntN(256, readWord(output, 32 * place)));
  try {
    return Array.from(readInt16s(decodeAbi(["uint256[]"], output)[0] as Uint8Array, count), BigInt);
  } catch (cause) {
    if (isBaseError(cause)) throw invalid(cause.shortMessage.slice(0, -1), cause);
    throw cause;
  }
}

function readClasses({ labels, index, scores, scale }: ClassesMeaning, numbers: readonly bigint[]): Reading {
  const held = scores === undefined ? [] : numbers.slice(scores.first, scores.first + scores.count);
  const chosen = index === undefined ? BigInt(greatest(held)) : (numbers[index] as bigint);
  const probabilities = scale === undefined ? [] : softmax(held, scale);
  const at = chosen >= 0n && chosen < BigInt(labels.length) ? Number(chosen) : -1;
  const [label, probability] = [labels[at], probabilities[at]];
  const name = label ?? `class ${shownDecimal(chosen, 0)}, which has no name`;
  return {
    kind: "classes",
    text: probability === undefined ? name : `${name} (${percentText(probability)})`,
    ...(label === undefined ? {} : { index: at, label }),
    ...(probability === undefined ? {} : { probability: fourDecimals(probability) }),
    classes: labels.map((of, i) => {
      const each = probabilities[i];
      return each === undefined ? { label: of } : { label: of, probability: fourDecimals(each) };
    }),
  };
}

const greatest = (scores: readonly bigint[]): number =>
  scores.reduce((best, score, i) => (score > (scores[best] as bigint) ? i : best), 0);

/** exp(score_i / scale) / sum, in doubles: their differences are exact, so that nothing overflows. */
function softmax(scores: readonly bigint[], scale: number): number[] {
  return scores.map((own) => 1 / scores.reduce((sum, one) => sum + Math.exp(Number(one - own) / scale), 0));
}

const fourDecimals = (probability: number): number => Math.round(10_000 * probability) / 10_000;

/** One decimal. What is not certain is never called 100 %, nor what is possible 0 %. */
function percentText(probability: number): string {
  const tenths = Math.round(1_000 * probability);
  if (tenths >= 1_000) return "> 99.9 %";
  if (tenths === 0) return "< 0.1 %";
  return `${plainDecimal(BigInt(tenths), 1)} %`;
}

function readQuantiles(meaning: QuantilesMeaning, numbers: readonly bigint[]): Reading {
  const { quantiles, first = 0 } = meaning;
  const values = quantiles.map((percent, i) => ({
    percent,
    ...shownValue(numbers[first + i] as bigint, meaning),
  }));
  const text = values.map((value) => value.text).join(" … ");
  return { kind: "quantiles", text: withSuffix(text, meaning), ...unitOf(meaning), quantiles: values };
}

function readShown(meaning: NumbersMeaning, numbers: readonly bigint[]): Reading {
  const shown = meaning.show.map(({ place, name }) => ({
    ...(name === undefined ? {} : { name }),
    ...shownValue(numbers[place] as bigint, meaning),
  }));
  const text = shown.map(({ name, text: of }) => (name === undefined ? of : `${name} ${of}`)).join(", ");
  return { kind: "numbers", text: withSuffix(text, meaning), ...unitOf(meaning), shown };
}

function shownValue(number: bigint, { scale = 1, decimals = 0, sign, unit }: NumberForm): ShownValue {
  const units = rounded(number, scale, decimals);
  const text = shownDecimal(units, decimals, sign);
  return {
    value: Number(plainDecimal(units, decimals)),
    text: unit === undefined ? text : `${text} ${unit}`,
  };
}

const withSuffix = (text: string, { suffix }: NumberForm): string =>
  suffix === undefined ? text : `${text} ${suffix}`;
const unitOf = ({ unit }: NumberForm) => (unit === undefined ? {} : { unit });

const invalid = (why: string, cause?: unknown) =>
  new BaseError({
    code: "OUTPUT_INVALID",
    shortMessage: `The output cannot be read as the model's manifest says: ${why}.`,
    nextStep: "Check that the output and the manifest belong to one model.",
    cause,
  });
