/** One value out of a JSON text, as text. Numbers keep every digit that the server wrote: two readers of the same
 *  bytes give the same bytes, which binary64 would not. */
import { BaseError } from "../../base/errors.ts";

const MAX_SELECTOR_CHARACTERS = 1_024;
const MAX_PARTS = 64;
const PART = /\.?([^.[\]"]+)|\[([0-9]{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** @param text a JSON text
 *  @param selector `data.prices[0].value`, `["a.b"].c`, with or without a leading `$`; empty or `$`: the whole text
 *  @returns a string's characters; any other value as JSON without spaces
 *  @throws BaseError SELECTOR_INVALID, JSON_INVALID, VALUE_MISSING, TEXT_NOT_UNICODE */
export function selectJson(text: string, selector: string): string {
  const parts = parseSelector(selector);
  requireJson(text);
  let at = skipSpace(text, 0);
  parts.forEach((part, depth) => {
    const found = typeof part === "number" ? elementOf(text, at, part) : memberOf(text, at, part);
    if (found === undefined) throw missing(parts.slice(0, depth + 1));
    at = found;
  });
  const value = text.slice(at, endOf(text, at));
  const result = value.startsWith('"') ? (JSON.parse(value) as string) : withoutSpaces(value);
  if (!/\p{Surrogate}/u.test(result)) return result;
  throw new BaseError({
    code: "TEXT_NOT_UNICODE",
    shortMessage: "The value holds half of a surrogate pair, which UTF-8 cannot hold.",
    nextStep: "Select another value.",
  });
}

/** @throws BaseError SELECTOR_INVALID */
function parseSelector(selector: string): (string | number)[] {
  const parts: (string | number)[] = [];
  const text = selector.replace(/^\$(?=$|[.[])/, "");
  PART.lastIndex = 0;
  while (selector.length <= MAX_SELECTOR_CHARACTERS && PART.lastIndex < text.length) {
    const isLaterName = parts.length > 0 && !".[".includes(text[PART.lastIndex] as string);
    const match = isLaterName ? null : PART.exec(text);
    if (match === null || parts.length === MAX_PARTS) break;
    const [, name, index, quoted] = match;
    parts.push(name ?? (index === undefined ? parseName(quoted as string, selector) : Number(index)));
    if (PART.lastIndex === text.length) return parts;
  }
  if (text === "") return parts;
  throw selectorInvalid(selector);
}

function parseName(quoted: string, selector: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw selectorInvalid(selector);
  }
}

function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new BaseError({
      code: "JSON_INVALID",
      shortMessage: `What the server sent is no JSON: ${(cause as Error).message}.`,
      nextStep: "Name a URL that answers with JSON.",
      cause,
    });
  }
}

// INVARIANT: below, the text is valid JSON.

function skipSpace(text: string, from: number): number {
  let at = from;
  while (" \t\n\r".includes(text[at] ?? "x")) at += 1;
  return at;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Index after the value that starts here. */
function endOf(text: string, start: number): number {
  const first = text[start] as string;
  if (first === '"') return endOfString(text, start);
  let at = start;
  if (first !== "{" && first !== "[") {
    while (at < text.length && !",]} \t\n\r".includes(text[at] as string)) at += 1;
    return at;
  }
  for (let depth = 0; ; ) {
    const character = text[at] as string;
    if (character === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (character === "{" || character === "[") depth += 1;
    if (character === "}" || character === "]") depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
}

/** Where the element starts. */
function elementOf(text: string, start: number, index: number): number | undefined {
  if (text[start] !== "[") return undefined;
  let at = skipSpace(text, start + 1);
  for (let i = 0; text[at] !== "]"; i++) {
    if (i === index) return at;
    at = skipSpace(text, endOf(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return undefined;
}

/** Where the member's value starts; of members of one name the last, as JSON.parse takes it. */
function memberOf(text: string, start: number, name: string): number | undefined {
  if (text[start] !== "{") return undefined;
  let found: number | undefined;
  let at = skipSpace(text, start + 1);
  while (text[at] !== "}") {
    const afterName = endOfString(text, at);
    const isIt = JSON.parse(text.slice(at, afterName)) === name;
    at = skipSpace(text, skipSpace(text, afterName) + 1);
    if (isIt) found = at;
    at = skipSpace(text, endOf(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}

const withoutSpaces = (json: string): string =>
  json.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+/g, (_all, string?: string) => string ?? "");

const selectorInvalid = (selector: string) =>
  new BaseError({
    code: "SELECTOR_INVALID",
    shortMessage: `${JSON.stringify(selector.slice(0, 80))} is no selector of at most ${MAX_PARTS} parts and ${MAX_SELECTOR_CHARACTERS} characters.`,
    nextStep: 'Write it as in data.prices[0].value or ["a name"].value.',
  });

const missing = (parts: readonly (string | number)[]) =>
  new BaseError({
    code: "VALUE_MISSING",
    shortMessage: `The JSON has no value at ${JSON.stringify(parts).slice(0, 160)}.`,
    nextStep: "Correct the selector.",
  });
