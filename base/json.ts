/** JSON with 256-bit integers as decimal strings, and no text that is not Unicode. */
import { BaseError } from "./errors.ts";

/** JSON has no integers above 53 bits. */
const decimals = (_key: string, part: unknown): unknown => (typeof part === "bigint" ? `${part}` : part);

/** Integers above 53 bits become decimal strings. */
export const jsonOf = (value: unknown): string => `${JSON.stringify(value, decimals)}\n`;

/** A value of a caller for a message, whatever it is: JSON where it has some, cut to so many characters. */
export function shownValue(value: unknown, most = 60): string {
  if (value === undefined) return "missing";
  try {
    return (JSON.stringify(value, decimals) ?? typeof value).slice(0, most);
  } catch {
    return `no JSON (${typeof value})`;
  }
}

/** Nested deeper than any type of a function. */
const MAX_DEPTH = 64;
/** More than any function takes: calldata of 64 KB holds 2,048 words. */
const MAX_VALUES = 4_096;

/** @param what the bytes are, for the message
 *  @throws BaseError TEXT_NOT_UNICODE; JSON_INVALID, also as requireShallow */
export function parseJson(bytes: Uint8Array, what: string): unknown {
  try {
    const value: unknown = JSON.parse(decodeUtf8(bytes, what));
    requireShallow(value, what);
    return value;
  } catch (cause) {
    if (cause instanceof BaseError) throw cause;
    throw jsonInvalid(what, cause instanceof Error ? cause.message : String(cause));
  }
}

/** Strict: UTF-8, and as requireObject. @throws BaseError JSON_INVALID, INPUTS_TOO_MANY, NUMBER_UNSAFE, TEXT_NOT_UNICODE */
export const parseObject = (body: Uint8Array): Record<string, unknown> =>
  requireObject(parseJson(body, "the body"), "the body");

/** One object, no number that JSON cannot hold exactly, no half of a surrogate pair, at most 4,096 values.
 *  @param value of `parseJson`, which bounds its depth @param what it is, for the message
 *  @throws BaseError JSON_INVALID, INPUTS_TOO_MANY, NUMBER_UNSAFE, TEXT_NOT_UNICODE */
export function requireObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const found = Array.isArray(value) ? "an array" : `${JSON.stringify(value)?.slice(0, 40)}`;
    throw jsonInvalid(what, `it is ${found} and no object`);
  }
  const seen = { values: 0 };
  for (const [name, part] of Object.entries(value)) check(part, name, seen);
  return value as Record<string, unknown>;
}

/** @throws BaseError TEXT_NOT_UNICODE */
export function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new BaseError({
      code: "TEXT_NOT_UNICODE",
      shortMessage: `The ${bytes.length} bytes of ${what} are not UTF-8.`,
      nextStep: "Send UTF-8. A contract may ask for any bytes; this interface takes text only.",
      cause,
    });
  }
}

/** Deeper nesting is refused: whatever shows or walks a value does so by recursion, and has a stack that ends.
 *  @throws BaseError JSON_INVALID */
export function requireShallow(value: unknown, what: string, depth = 0): void {
  if (depth > MAX_DEPTH) throw jsonInvalid(what, `it nests deeper than ${MAX_DEPTH}`);
  if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) requireShallow(part, what, depth + 1);
}

function check(value: unknown, path: string, seen: { values: number }): void {
  seen.values += 1;
  if (seen.values > MAX_VALUES) throw tooMany();
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new BaseError({
      code: "NUMBER_UNSAFE",
      shortMessage: `${path} is ${value}, not an integer of at most 53 bits.`,
      nextStep: "Send larger integers as decimal strings.",
      details: { path },
    });
  }
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new BaseError({
      code: "TEXT_NOT_UNICODE",
      shortMessage: `${path} holds half of a surrogate pair, which UTF-8 cannot hold.`,
      nextStep: "Send whole characters.",
      details: { path },
    });
  }
  if (typeof value === "object" && value !== null) {
    for (const [name, part] of Object.entries(value)) check(part, `${path}.${name}`, seen);
  }
}

const tooMany = () =>
  new BaseError({
    code: "INPUTS_TOO_MANY",
    shortMessage: `The body holds more than ${MAX_VALUES} values.`,
    nextStep: "Send what the function takes; long inputs go as text or bytes.",
    details: { limit: MAX_VALUES },
  });

const jsonInvalid = (what: string, why: string) =>
  new BaseError({
    code: "JSON_INVALID",
    shortMessage: `The JSON of ${what} cannot be read: ${why}.`,
    nextStep: "Send strict JSON; a tool's arguments are one object, by name.",
  });
