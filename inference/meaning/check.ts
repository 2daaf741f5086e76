/** Checks the `meaning` of a manifest against the form of the model's output. Its texts come from somebody else and are
 *  shown to people, in terminals and pages: they are short, of one line, and hold nothing that is invisible. */

import { sizeOf } from "../manifest/numbers.ts";
import { type Checker, quoted } from "../manifest/problems.ts";
import { numberCount, type Readable } from "./form.ts";

export const MEANING_LIMITS = {
  labels: 256,
  /** quantiles, and numbers that are shown */
  values: 16,
  decimals: 18,
  /** characters of a label, a name, a suffix */
  text: 40,
  unit: 12,
  scale: { least: 1e-30, most: 1e30 },
} as const;

const NUMBER_FIELDS = ["scale", "unit", "decimals", "sign", "suffix"] as const;
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  classes: ["kind", "labels", "index", "scores", "scale"],
  quantiles: ["kind", "quantiles", "first", ...NUMBER_FIELDS],
  numbers: ["kind", "show", ...NUMBER_FIELDS],
};

/** Controls, format characters (those of direction and of no width among them), halves of pairs, private use, line
 *  separators, fillers. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

type Fields = Record<string, unknown>;

/** @param section of the manifest, whose other fields may be faulty themselves */
export function checkMeaning(check: Checker, section: Fields, path: string): void {
  if (section.meaning === undefined) return;
  const at = `${path}.meaning`;
  const meaning = check.object(section.meaning, at);
  if (meaning === undefined) return;
  const known = Object.hasOwn(FIELDS, String(meaning.kind)) ? FIELDS[String(meaning.kind)] : undefined;
  if (known === undefined) {
    check.error(
      `${at}.kind`,
      `must be one of ${Object.keys(FIELDS).join(", ")}, is ${quoted(meaning.kind)}`,
      meaning.kind === undefined ? "required" : "form",
    );
    return;
  }
  unknownFields(check, meaning, known, at);
  if (!hasForm(section)) {
    check.error(at, "cannot be checked: the section does not say what the output is made of");
    return;
  }
  const count = numberCount(section);
  if (count === undefined) {
    check.error(at, "only outputs of the codecs words and int16s have numbers to read");
    return;
  }
  const checks = new MeaningCheck(check, at, count, section);
  if (meaning.kind === "classes") checks.classes(meaning);
  else if (meaning.kind === "quantiles") checks.quantiles(meaning);
  else checks.shown(meaning);
}

function hasForm(section: Fields): section is Fields & Readable {
  const { codec, outputLength, outputs } = section as Partial<Readable>;
  const isTensor = (entry: Partial<Readable["outputs"][number]> | null) =>
    isPlace(entry?.offset) && Array.isArray(entry?.dims) && entry.dims.every(isPlace);
  return (
    isPlace(outputLength) && codec?.output !== undefined && Array.isArray(outputs) && outputs.every(isTensor)
  );
}

function unknownFields(check: Checker, value: Fields, known: readonly string[], at: string): void {
  for (const key of Object.keys(value))
    if (!known.includes(key))
      check.error(`${at}[${quoted(key)}]`, `is no field here; there are ${known.join(", ")}`);
}

class MeaningCheck {
  readonly #check: Checker;
  readonly #at: string;
  /** numbers of the output */
  readonly #count: number;
  readonly #outputs: Readable["outputs"];

  constructor(check: Checker, at: string, count: number, { outputs }: Readable) {
    this.#check = check;
    this.#at = at;
    this.#count = count;
    this.#outputs = outputs;
  }

  classes(meaning: Fields): void {
    const { labels, index, scores, scale } = meaning;
    const names = this.#list(labels, "labels", 2, MEANING_LIMITS.labels);
    names?.forEach((label, i) => {
      this.#text(label, `labels[${i}]`, MEANING_LIMITS.text);
      if (names.indexOf(label) < i) this.#error(`labels[${i}]`, `${quoted(label)} is the name of another`);
    });
    if (index !== undefined) this.#place(index, "index");
    if (index === undefined && scores === undefined)
      this.#error("index", "is missing, and there are no scores whose greatest would name the class");
    if (scale !== undefined && scores === undefined)
      this.#error("scale", "scales scores, and there are none");
    this.#scale(scale);
    if (scores !== undefined) this.#scores(scores, names, index);
  }

  #scores(value: unknown, names: readonly unknown[] | undefined, index: unknown): void {
    const scores = this.#check.object(value, `${this.#at}.scores`);
    if (scores === undefined) return;
    unknownFields(this.#check, scores, ["first", "count"], `${this.#at}.scores`);
    const { first, count } = scores;
    if (!this.#place(first, "scores.first") || !isPlace(count)) {
      if (!isPlace(count)) this.#error("scores.count", `must be a whole number, is ${quoted(count)}`);
      return;
    }
    const end = first + count;
    if (names !== undefined && names.length !== count)
      this.#error("labels", `there are ${names.length} for ${count} scores; each class has both`);
    if (end > this.#count)
      this.#error("scores.count", `ends at ${end}, the output has ${this.#count} numbers`);
    else if (isPlace(index) && index >= first && index < end)
      this.#error("index", `${index} is the place of a score`);
    else if (end !== index && end !== this.#tensorEnd(first))
      this.#error(
        "scores.count",
        `ends at ${end}, and the scores' tensor goes on to ${this.#tensorEnd(first)}`,
      );
  }

  quantiles(meaning: Fields): void {
    const { quantiles, first = 0 } = meaning;
    const levels = this.#list(quantiles, "quantiles", 1, MEANING_LIMITS.values);
    levels?.forEach((level, i) => {
      const isLevel = typeof level === "number" && level > 0 && level < 100;
      if (!isLevel) this.#error(`quantiles[${i}]`, `must be percent between 0 and 100, is ${quoted(level)}`);
      else if (i > 0 && level <= (levels[i - 1] as number))
        this.#error(`quantiles[${i}]`, `${level} does not ascend: it stands behind ${quoted(levels[i - 1])}`);
    });
    if (this.#place(first, "first") && levels !== undefined && first + levels.length > this.#count)
      this.#error("quantiles", `end at ${first + levels.length}, the output has ${this.#count} numbers`);
    this.#number(meaning);
  }

  shown(meaning: Fields): void {
    this.#list(meaning.show, "show", 1, MEANING_LIMITS.values)?.forEach((value, i) => {
      const entry = this.#check.object(value, `${this.#at}.show[${i}]`);
      if (entry === undefined) return;
      unknownFields(this.#check, entry, ["place", "name"], `${this.#at}.show[${i}]`);
      this.#place(entry.place, `show[${i}].place`);
      if (entry.name !== undefined) this.#text(entry.name, `show[${i}].name`, MEANING_LIMITS.text);
    });
    this.#number(meaning);
  }

  #number({ scale, unit, decimals, sign, suffix }: Fields): void {
    this.#scale(scale);
    if (unit !== undefined) this.#text(unit, "unit", MEANING_LIMITS.unit);
    if (suffix !== undefined) this.#text(suffix, "suffix", MEANING_LIMITS.text);
    if (sign !== undefined && typeof sign !== "boolean")
      this.#error("sign", `must be true or false, is ${quoted(sign)}`);
    if (decimals !== undefined && !(isPlace(decimals) && decimals <= MEANING_LIMITS.decimals))
      this.#error("decimals", `must be 0 to ${MEANING_LIMITS.decimals}, is ${quoted(decimals)}`);
  }

  #scale(scale: unknown): void {
    if (scale === undefined) return;
    const { least, most } = MEANING_LIMITS.scale;
    if (!(typeof scale === "number" && scale >= least && scale <= most))
      this.#error("scale", `must be a number above 0, from ${least} to ${most}, is ${quoted(scale)}`);
  }

  #place(place: unknown, name: string): place is number {
    const fits = isPlace(place) && !(place >= this.#count);
    if (!fits) this.#error(name, `must be a place below ${this.#count}, is ${quoted(place)}`);
    return fits;
  }

  #list(value: unknown, name: string, least: number, most: number): unknown[] | undefined {
    const list = this.#check.array(value, `${this.#at}.${name}`);
    if (list === undefined) return undefined;
    if (list.length >= least && list.length <= most) return list;
    this.#error(name, `has ${list.length} entries, must have ${least} to ${most}`);
    return undefined;
  }

  #text(value: unknown, name: string, limit: number): void {
    const text = this.#check.text(value, `${this.#at}.${name}`);
    if (text === undefined) return;
    const { length } = [...text];
    if (length > limit) this.#error(name, `has ${length} characters, at most ${limit} are shown`);
    else if (UNSEEN.test(text))
      this.#error(name, `${quoted(text)} holds a control or an invisible character`);
    else if (name !== "unit" && /[()%…]/.test(text))
      this.#error(name, `${quoted(text)} holds (, ), % or …, which stand for probabilities and quantiles`);
    else if (text !== text.trim() || /\s\s/.test(text))
      this.#error(name, `${quoted(text)} has spaces at its ends or beside each other`);
  }

  /** Where the tensor that holds a place ends; the end of the output where none is named. */
  #tensorEnd(place: number): number {
    const held = this.#outputs.find(
      ({ dims, offset }) => offset <= place && place < offset + sizeOf({ dims }),
    );
    return held === undefined ? this.#count : held.offset + sizeOf(held);
  }

  #error(name: string, message: string): void {
    this.#check.error(`${this.#at}.${name}`, message);
  }
}

const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
