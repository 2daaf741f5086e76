/** Which words, numbers and marks of a reply stand in what its tools returned. Words are compared, not meanings: but
 *  what changes a number's meaning (units, signs, relations, scales) or turns a word must stand there at the same place. */
import type { Reading } from "../../inference/meaning/read.ts";
import { areEqual, type Decimal, parseDecimal, roundsTo } from "./decimals.ts";
import { PLAIN_WORDS, SCALING_WORDS, TURNING_WORDS } from "./grounding-words.ts";
import { marksAround, SETTLED, type Token, tokensOf } from "./reply-tokens.ts";
import { SaidClasses } from "./said-classes.ts";

/** A call that succeeded and that the reply cites. */
export interface Source {
  readonly toolName: string;
  readonly description: string;
  readonly rawArguments: string;
  readonly data?: unknown;
  /** what the output of a model says, by its manifest */
  readonly meaning?: Reading;
}

interface WrittenNumber {
  readonly value: Decimal;
  readonly text: string;
  readonly before: string;
  readonly after: string;
}

const CITATION = /call_[a-z0-9_-]*/gi;
/** Objects and lists of a result that a reply may hold as they are. */
const MAX_LITERALS = 200;

/** @param reply text after `cleanReply` @param message of the user
 *  @returns what is in no source, in the order of the reply */
export function ungrounded(reply: string, sources: readonly Source[], message: string): string[] {
  const known = new Known(sources, message);
  const tokens = tokensOf(known.withoutLiterals(reply.replace(CITATION, ` ${SETTLED} `)));
  const classes = new SaidClasses(classesOf(sources), tokens);
  return tokens.flatMap((token, at) => {
    if (token.kind === "plain" || token.text === SETTLED) return [];
    const isKnown = known.has(token, at, tokens) || classes.isOwnPercentage(at) || classes.isOfNamed(at);
    return isKnown && !classes.isOfAnother(at) ? [] : [shownAt(tokens, at)];
  });
}

const classesOf = (sources: readonly Source[]) =>
  sources.flatMap(({ meaning, data }) => (meaning?.kind === "classes" ? [{ reading: meaning, data }] : []));

/** A number with its marks, as the model has to see what is refused. */
function shownAt(tokens: readonly Token[], at: number): string {
  const { kind, text = "" } = tokens[at] ?? {};
  if (kind !== "number") return kind === "word" ? text.toLowerCase() : text;
  const { before, after } = marksAround(tokens, at);
  return `${before}${text}${after}`;
}

class Known {
  readonly #words = new Set(PLAIN_WORDS);
  readonly #marks = new Set<string>();
  readonly #others = new Set<string>();
  readonly #numbers: WrittenNumber[] = [];
  /** a word and what stands behind it, in the texts of results */
  readonly #pairs = new Set<string>();
  readonly #literals: string[] = [];

  constructor(sources: readonly Source[], message: string) {
    for (const { toolName, description, rawArguments, data, meaning } of sources) {
      this.#add(tokensOf(fold(toolName.replaceAll("_", " "))));
      this.#add(tokensOf(fold(description)));
      for (const text of textsOf(data)) {
        const tokens = tokensOf(fold(text.text));
        this.#add(tokens);
        if (!text.isKey) this.#addPairs(tokens);
      }
      this.#addLiterals(data);
      if (meaning !== undefined) this.#addMeaning(meaning);
      this.#addOwn(rawArguments, message);
    }
  }

  has(token: Token, at: number, tokens: readonly Token[]): boolean {
    switch (token.kind) {
      case "word":
        return this.#hasWord(token.text.toLowerCase(), at, tokens);
      case "number":
        return this.#hasNumber(token.text, at, tokens);
      case "other":
        return this.#others.has(token.text.toLowerCase());
      default:
        // Marks beside a number belong to it.
        return this.#marks.has(token.text) || isBesideNumber(tokens, at);
    }
  }

  /** The reply without JSON of a result that stands in it word for word, and by itself. */
  withoutLiterals(reply: string): string {
    return this.#literals.reduce((text, literal) => {
      const at = text.indexOf(literal);
      if (at === -1) return text;
      const [before, after] = [text.slice(0, at), text.slice(at + literal.length)];
      const isApart = /(^|[\s:`"])$/.test(before) && /^($|[\s.,;`"])/.test(after);
      return isApart ? `${before} ${SETTLED} ${after}` : text;
    }, reply);
  }

  #hasWord(word: string, at: number, tokens: readonly Token[]): boolean {
    if (TURNING_WORDS.has(word)) return this.#pairs.has(`${word} ${followerOf(tokens, at)}`);
    if (SCALING_WORDS.has(word) && isBesideNumber(tokens, at, -1))
      return this.#pairs.has(`${textAt(tokens, at - 1)} ${word}`);
    if (isUnit(word, at, tokens)) return this.#pairs.has(`${textAt(tokens, at - 1)} ${word}`);
    if (this.#words.has(word)) return true;
    if (word.length < 4) return false;
    return this.#words.has(`${word}s`) || (word.endsWith("s") && this.#words.has(word.slice(0, -1)));
  }

  #hasNumber(text: string, at: number, tokens: readonly Token[]): boolean {
    // Two numbers with nothing between them are read as one.
    if (tokens[at - 1]?.kind === "number" || tokens[at + 1]?.kind === "number") {
      if (!this.#pairs.has(`${text} ${textAt(tokens, at + 1)}`) && tokens[at + 1]?.kind === "number")
        return false;
    }
    const value = parseDecimal(text);
    if (value === undefined) return false;
    const { before, after } = marksAround(tokens, at);
    // 187.000 is 187 here and 187,000 elsewhere.
    const isAmbiguous = /\d\.\d\d0$/.test(text);
    return this.#numbers.some(
      (one) =>
        one.before === before &&
        one.after === after &&
        (one.text === text || (!isAmbiguous && (areEqual(one.value, value) || roundsTo(one.value, value)))),
    );
  }

  #add(tokens: readonly Token[]): void {
    tokens.forEach((token, at) => {
      if (token.kind === "mark") this.#marks.add(token.text);
      if (token.kind === "other") this.#others.add(token.text.toLowerCase());
      if (token.kind === "word") for (const word of partsOf(token.text)) this.#words.add(word);
      if (token.kind === "number") this.#numbers.push(...writtenAt(tokens, at));
    });
  }

  #addPairs(tokens: readonly Token[]): void {
    tokens.forEach((token, at) => {
      if (token.kind !== "plain") this.#pairs.add(`${textAt(tokens, at)} ${followerOf(tokens, at)}`);
    });
  }

  /** Values as they are shown, where a plus may be left out, and as the whole line has them. Of classes `SaidClasses`
   *  decides; a label without a letter is a number like any other. */
  #addMeaning(meaning: Reading): void {
    if (meaning.kind === "classes") {
      const { label = "" } = meaning;
      if (!/\p{L}/u.test(label)) this.#add(tokensOf(fold(label)));
      return;
    }
    const values = meaning.kind === "quantiles" ? meaning.quantiles : meaning.shown;
    const shown = values.flatMap(({ text }) => [text, text.replace(/^\+/, "")]);
    for (const text of [meaning.text, ...shown]) {
      // A sentence may end or go on behind it.
      for (const end of ["", ".", ",", ";"]) {
        const tokens = tokensOf(fold(`${text}${end}`));
        this.#add(tokens);
        this.#addPairs(tokens);
      }
    }
  }

  /** The model chose the arguments: only what the user wrote, too, is no news. */
  #addOwn(rawArguments: string, message: string): void {
    const own = tokensOf(fold(message));
    const ownWords = new Set(own.flatMap(({ kind, text }) => (kind === "word" ? partsOf(text) : [])));
    const ownNumbers = own.flatMap((token, at) => (token.kind === "number" ? writtenAt(own, at) : []));
    for (const { text } of textsOf(parsed(rawArguments))) {
      const tokens = tokensOf(fold(text));
      tokens.forEach((token, at) => {
        if (token.kind === "word")
          for (const word of partsOf(token.text)) if (ownWords.has(word)) this.#words.add(word);
        if (token.kind !== "number") return;
        const isOwn = (one: WrittenNumber) =>
          ownNumbers.some(
            ({ text: written, before, after }) =>
              written === one.text && before === one.before && after === one.after,
          );
        this.#numbers.push(...writtenAt(tokens, at).filter(isOwn));
      });
    }
  }

  #addLiterals(data: unknown): void {
    const waiting: unknown[] = [data];
    for (const value of waiting) {
      if (typeof value !== "object" || value === null || this.#literals.length >= MAX_LITERALS) continue;
      const entries = Object.values(value);
      waiting.push(...entries.slice(0, MAX_LITERALS));
      // A list of one number could be negated by what stands before it.
      if (Array.isArray(value) && entries.length < 2) continue;
      for (const indent of [0, 2]) this.#literals.push(fold(JSON.stringify(value, undefined, indent)));
    }
  }
}

const fold = (text: string): string => text.normalize("NFKC");

function writtenAt(tokens: readonly Token[], at: number): WrittenNumber[] {
  const text = tokens[at]?.text ?? "";
  const value = parseDecimal(text);
  return value === undefined ? [] : [{ value, text, ...marksAround(tokens, at) }];
}

/** Lower case; parts of camelCase names besides the whole. */
const partsOf = (word: string): string[] =>
  [word, ...word.split(/(?<=\p{Ll})(?=\p{Lu})/u)].map((part) => part.toLowerCase());

const textAt = (tokens: readonly Token[], at: number): string => tokens[at]?.text.toLowerCase() ?? "";

/** What stands behind; "" at the end of what is said. */
function followerOf(tokens: readonly Token[], at: number): string {
  const next = tokens[at + 1];
  const isEnd = next === undefined || next.kind === "plain" || next.text === SETTLED;
  return isEnd ? "" : next.text.toLowerCase();
}

/** Letters and inches behind a number; a comma between them makes it another clause. */
function isUnit(word: string, at: number, tokens: readonly Token[]): boolean {
  if (word.length > 1 && !(word === "in" && followerOf(tokens, at) === "")) return false;
  let i = at - 1;
  while (/^[([{"'“‘«`]$/.test(tokens[i]?.text ?? "")) i -= 1;
  return tokens[i]?.kind === "number";
}

function isBesideNumber(tokens: readonly Token[], at: number, only?: -1 | 1): boolean {
  return ([-1, 1] as const).some((step) => {
    if (only !== undefined && only !== step) return false;
    let i = at + step;
    while (tokens[i]?.kind === "plain" || tokens[i]?.kind === "mark") i += step;
    return tokens[i]?.kind === "number";
  });
}

/** Every text in a value, with the names of its fields; numbers and the like as JSON writes them. */
function* textsOf(
  value: unknown,
  isKey = false,
): Generator<{ readonly text: string; readonly isKey: boolean }> {
  if (typeof value !== "object" || value === null) {
    yield { text: String(value), isKey };
    return;
  }
  for (const [key, held] of Object.entries(value)) {
    if (!Array.isArray(value)) yield { text: key, isKey: true };
    yield* textsOf(held);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
