/** A text as words, numbers with the marks around them, and what is neither. Nothing that is visible is passed over: a
 *  character is part of a word or a number, plain punctuation, or a mark, and marks say something (`$`, `%`, `<`, `≠`). */

export type Token =
  | { readonly kind: "word"; readonly text: string }
  /** without the marks around it; text has a plain minus, if any */
  | { readonly kind: "number"; readonly text: string }
  /** digits with letters or signs in a form that is no number: dates, versions, `187k` */
  | { readonly kind: "other"; readonly text: string }
  | { readonly kind: "mark"; readonly text: string }
  /** punctuation that says nothing; a dash counts as a minus before a number */
  | { readonly kind: "plain"; readonly text: string };

/** Stands for what was found to be right as a whole, a citation for instance; no reply has it by itself. */
export const SETTLED = "\u{e000}";

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const DASH = "\\-\u2010-\u2015\u2043\u2212\u02d7";
const OPENING = "\"'“‘«(\\[{`";
const CLOSING = "\"'”’»)\\]}`";
/** Between words these say nothing. */
const PLAIN_RUN = new RegExp(`^[.,;:&_/${OPENING}${CLOSING}${DASH}]+$`, "u");
const DASHES = new RegExp(`^[${DASH}]+$`, "u");
const PEELED = new RegExp(`^([${OPENING}]*)(.*?)([${CLOSING}]*[.,;:]?[${CLOSING}]*)$`, "su");
/** English: `,` between thousands, `.` before the fraction. */
const NUMERAL = "(?:[1-9]\\d{0,2}(?:,\\d{3})+|0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?";
const MARKED = new RegExp(
  `^([^\\p{L}\\p{M}\\p{N}.,]*?)([${DASH}]?)(${NUMERAL})([^\\p{L}\\p{M}\\p{N}]*)$`,
  "u",
);
const KEYED = /^(["'`]?[\p{L}_][\p{L}\p{M}\p{N}_]*["'`]?)([:=])(?=["'`([{$\p{S}\p{Pd}\p{N}])(.+)$/su;
/** Pairs of asterisks or backticks around words are layout, inside of a word or number they are not. */
const EMPHASIS = /(?<![\p{L}\p{M}\p{N}*])(\*{1,3}|`)(?=\S)([^*`\n]*?\S)\1(?![\p{L}\p{M}\p{N}*])/gu;
const SPACED_THOUSANDS = /(?<![\p{L}\p{M}\p{N}.,])[1-9]\d{0,2}(?:[^\S\n]\d{3})+(?![\p{L}\p{M}\p{N}])/gu;

/** @param text compatibility forms folded */
export function tokensOf(text: string): Token[] {
  const laidOut = text
    .replace(EMPHASIS, "$2")
    .replace(SPACED_THOUSANDS, (found) => found.replaceAll(/\s/g, ","));
  const tokens: Token[] = [];
  for (const line of laidOut.split("\n")) {
    // Below the head of a table.
    if (/^\s*\|?(\s*:?-{3,}:?\s*\|?)+\s*$/.test(line)) continue;
    for (const [index, chunk] of line.trim().split(/\s+/).entries()) {
      if (chunk === "") continue;
      // Layout of lists, headings and tables.
      const isLayout = (index === 0 && /^(#{1,6}|[*•])$/.test(chunk)) || chunk === "|" || chunk === "=";
      if (chunk === SETTLED) tokens.push({ kind: "word", text: chunk });
      else if (isLayout) tokens.push({ kind: "plain", text: chunk });
      else if (/\p{N}/u.test(chunk)) tokens.push(...withDigits(chunk, tokens));
      else tokens.push(...withoutDigits(chunk));
    }
    tokens.push({ kind: "plain", text: "\n" });
  }
  return tokens;
}

function withoutDigits(chunk: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const between = (end: number) => {
    const run = chunk.slice(at, end);
    if (run !== "") tokens.push(...punctuation(run, tokens.length > 0 && end === chunk.length));
  };
  for (const { 0: word, index } of chunk.matchAll(WORD)) {
    between(index);
    tokens.push({ kind: "word", text: word });
    at = index + word.length;
  }
  between(chunk.length);
  return tokens;
}

/** @param isAfterWord at the end of a word, where an exclamation mark says nothing */
function punctuation(run: string, isAfterWord: boolean): Token[] {
  const kept = isAfterWord ? run.replace("!", "") : run;
  if (kept === "") return [];
  const isOne = PLAIN_RUN.test(kept) && !/\.\./.test(kept) && kept !== "/" && kept !== "_";
  if (isOne) return [...kept].map((text) => ({ kind: "plain", text }));
  return [{ kind: "mark", text: kept }];
}

/** @param before what stands before the chunk: an inch sign is a quotation mark that closes nothing */
function withDigits(chunk: string, before: readonly Token[]): Token[] {
  const [, key, separator, value] = KEYED.exec(chunk) ?? [];
  if (key !== undefined && separator !== undefined && value !== undefined) {
    const named = /\p{N}/u.test(key) ? withDigits(key, before) : withoutDigits(key);
    const plain: Token = { kind: "plain", text: separator };
    const rest = /\p{N}/u.test(value)
      ? withDigits(value, [...before, ...named, plain])
      : withoutDigits(value);
    return [...named, plain, ...rest];
  }
  const [, opening = "", core = "", closing = ""] = PEELED.exec(chunk) ?? [];
  const [, marks = "", sign = "", numeral, after = ""] = MARKED.exec(core) ?? [];
  const plain = (run: string): Token[] => [...run].map((text) => ({ kind: "plain", text }));
  if (numeral === undefined) return [...plain(opening), { kind: "other", text: core }, ...plain(closing)];
  const minus = sign === "" ? "" : "-";
  return [
    ...plain(opening),
    ...(marks === "" ? [] : [{ kind: "mark", text: marks } as const]),
    { kind: "number", text: `${minus}${numeral}` },
    ...(after === "" ? [] : [{ kind: "mark", text: after } as const]),
    ...[...closing].map((text): Token => ({ kind: closes(text, opening, before) ? "plain" : "mark", text })),
  ];
}

/** Feet, minutes, inches and seconds look like quotation marks. */
function closes(text: string, opening: string, before: readonly Token[]): boolean {
  if (text === "'" || text === "’") return /['‘]/.test(opening);
  const count = (mark: string) =>
    before.filter((token) => token.text === mark).length + opening.split(mark).length - 1;
  if (text === '"') return count('"') % 2 === 1;
  if (text === "”") return count("“") > count("”");
  return true;
}

/** The marks around the number at this place: a dash before it, and parentheses around it alone, are a minus, and so is
 *  a dash behind it unless a word goes on. */
export function marksAround(tokens: readonly Token[], at: number): { before: string; after: string } {
  const left = sideOf(tokens, at, -1);
  const right = sideOf(tokens, at, 1);
  const isBracketed = left.bracket === "(" && right.bracket === ")";
  return {
    before: `${isBracketed ? "(" : ""}${left.marks.reverse().join("")}`,
    after: `${right.marks.join("")}${isBracketed ? ")" : ""}`,
  };
}

function sideOf(tokens: readonly Token[], at: number, step: -1 | 1) {
  const marks: string[] = [];
  let bracket: string | undefined;
  let isNear = true;
  for (let i = at + step; ; i += step) {
    const token = tokens[i];
    const isOver = token === undefined || (token.kind !== "mark" && token.kind !== "plain");
    if (isOver) return { marks, bracket };
    const isDash = DASHES.test(token.text);
    // Behind a number: only where no word follows, and what follows as a number has it before itself.
    const isMinus = isDash && (step === -1 || !["word", "number"].includes(tokens[i + 1]?.kind ?? ""));
    if (token.kind === "mark") marks.push(token.text);
    else if (isMinus) marks.push("-");
    else if (isNear && (token.text === "(" || token.text === ")")) bracket ??= token.text;
    else if (/[.,;:\n]/.test(token.text)) isNear = false;
  }
}
