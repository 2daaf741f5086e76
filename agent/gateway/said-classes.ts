/** What a reply may say of a model's classes. The class that the output names may be said as any word of a result. Another
 *  one may stand only with the number that the result holds under its name right behind it, and the percentage only with
 *  the class that it belongs to: a reply about a text that is bullish cannot call it bearish, nor 99.8 % bearish. */
import type { ClassesReading } from "../../inference/meaning/read.ts";
import { areEqual, type Decimal, parseDecimal } from "./decimals.ts";
import { SCALING_WORDS, TURNING_WORDS } from "./grounding-words.ts";
import { marksAround, SETTLED, type Token, tokensOf } from "./reply-tokens.ts";

/** Between a class and its own number. */
const LINKS: ReadonlySet<string> = new Set("score scores is of has a the".split(" "));
const MAX_LINKS = 6;
/** Behind one of these something else begins. */
const ENDS = /[.,;:)\n|]/;

/** A class that stands in the reply, from one token to another. */
interface Mention {
  readonly label: string;
  readonly start: number;
  readonly end: number;
}

interface Output {
  readonly reading: ClassesReading;
  /** by label, lower case: what the result holds under this name */
  readonly own: ReadonlyMap<string, Decimal>;
}

export class SaidClasses {
  readonly #outputs: readonly Output[];
  readonly #tokens: readonly Token[];
  readonly #mentions: readonly Mention[];

  /** @param tokens of the reply, without what was found to be right as a whole */
  constructor(
    outputs: readonly { readonly reading: ClassesReading; readonly data: unknown }[],
    tokens: readonly Token[],
  ) {
    this.#outputs = outputs.map(({ reading, data }) => ({ reading, own: namedNumbers(data) }));
    this.#tokens = tokens;
    const labels = outputs.flatMap(({ reading }) => reading.classes.map(({ label }) => label));
    this.#mentions = mentionsOf(tokens, [...new Set(labels)]);
  }

  /** True of a token that belongs to a class which no output names, without that class's own number behind it. */
  isOfAnother(at: number): boolean {
    const mention = this.#mentions.find(({ start, end }) => start <= at && at <= end);
    if (mention === undefined) return false;
    return !this.#outputs.some(({ reading, own }) => {
      const known = reading.classes.some(({ label }) => label === mention.label);
      return known && (reading.label === mention.label || this.#hasOwnNumber(mention, own));
    });
  }

  /** True of a token that belongs to the class which an output names. Where its words could turn what follows them
   *  (`not spam`, `negative`), nothing but its percentage follows. */
  isOfNamed(at: number): boolean {
    const mention = this.#mentions.find(({ start, end }) => start <= at && at <= end);
    if (mention === undefined || !this.#outputs.some(({ reading }) => reading.label === mention.label))
      return false;
    const words = this.#tokens.slice(mention.start, mention.end + 1).map(({ text }) => text.toLowerCase());
    if (!words.some((word) => TURNING_WORDS.has(word) || SCALING_WORDS.has(word))) return true;
    const [next, ...rest] = this.#tokens.slice(mention.end + 1);
    if (next === undefined || next.text === SETTLED) return true;
    if (next.kind !== "plain") return false;
    const further = rest.findIndex(({ kind }) => kind !== "plain" && kind !== "mark");
    const place = mention.end + 2 + further;
    return further === -1 || this.#tokens[place]?.kind !== "number" || this.isOwnPercentage(place);
  }

  /** True of the percentage of a class that an output names, where it stands with this class. */
  isOwnPercentage(at: number): boolean {
    if (this.#tokens[at]?.kind !== "number") return false;
    const before = this.#mentions.findLast(({ end }) => end < at);
    const after = this.#mentions.find(({ start }) => start > at);
    const beside = after !== undefined && this.#isBeside(at, after) ? [after] : [];
    const classes = [...(before === undefined ? [] : [before]), ...beside];
    return (
      classes.length > 0 &&
      this.#outputs.some(
        ({ reading }) =>
          classes.every(({ label }) => label === reading.label) && this.#isPercentageOf(at, reading),
      )
    );
  }

  #isBeside(at: number, { start }: Mention): boolean {
    return !this.#tokens.slice(at + 1, start).some(({ kind, text }) => kind !== "word" && ENDS.test(text));
  }

  #isPercentageOf(at: number, { label, text }: ClassesReading): boolean {
    if (label === undefined || !text.endsWith(")")) return false;
    const tokens = tokensOf(text.slice(label.length + " (".length, -1));
    const place = tokens.findIndex(({ kind }) => kind === "number");
    if (place === -1 || tokens[place]?.text !== this.#tokens[at]?.text) return false;
    const [stated, written] = [marksAround(tokens, place), marksAround(this.#tokens, at)];
    // Parentheses around a probability are no minus.
    const plain = (marks: string) => marks.replace(/[().,;:]/g, "");
    return stated.before === plain(written.before) && stated.after === plain(written.after);
  }

  #hasOwnNumber({ label, end }: Mention, own: ReadonlyMap<string, Decimal>): boolean {
    const value = own.get(label.toLowerCase());
    if (value === undefined) return false;
    for (let at = end + 1; at <= end + 1 + MAX_LINKS; at++) {
      const token = this.#tokens[at];
      if (token?.kind === "number") {
        const { before, after } = marksAround(this.#tokens, at);
        const written = parseDecimal(token.text);
        return before === "" && after === "" && written !== undefined && areEqual(value, written);
      }
      const isLink = token?.kind === "word" && LINKS.has(token.text.toLowerCase());
      const isPlain =
        token?.kind === "plain" && (token.text === ":" || token.text === "|" || !ENDS.test(token.text));
      if (!isLink && !isPlain) return false;
    }
    return false;
  }
}

/** Whole numbers of a result by the names of their fields, lower case. */
function namedNumbers(data: unknown): Map<string, Decimal> {
  if (typeof data !== "object" || data === null) return new Map();
  return new Map(
    Object.entries(data).flatMap(([name, value]) => {
      const number = ["number", "string"].includes(typeof value) ? parseDecimal(String(value)) : undefined;
      return number === undefined ? [] : [[name.toLowerCase(), number] as const];
    }),
  );
}

const isSpoken = ({ kind, text }: Token): boolean => kind !== "plain" && kind !== "mark" && text !== SETTLED;
/** The gate takes a word with an s behind it for the word, and the other way round. */
const stem = (word: string): string => word.toLowerCase().replace(/(?<=.{3})s$/, "");
const stemsOf = (tokens: readonly Token[]): string[] => tokens.filter(isSpoken).map(({ text }) => stem(text));

/** Where the reply says a class: at each place the longest one. Labels without a letter are numbers like any other. */
function mentionsOf(tokens: readonly Token[], labels: readonly string[]): Mention[] {
  const places = tokens.flatMap((token, at) => (isSpoken(token) ? [at] : []));
  const stems = stemsOf(tokens);
  const named = labels
    .map((label) => ({ label, words: stemsOf(tokensOf(label.normalize("NFKC"))) }))
    .filter(({ label, words }) => words.length > 0 && /\p{L}/u.test(label))
    .sort((a, b) => b.words.length - a.words.length);
  const mentions: Mention[] = [];
  for (let i = 0; i < stems.length; i++) {
    const found = named.find(({ words }) => words.every((word, j) => stems[i + j] === word));
    if (found === undefined) continue;
    const last = i + found.words.length - 1;
    mentions.push({ label: found.label, start: places[i] as number, end: places[last] as number });
    i = last;
  }
  return mentions;
}
