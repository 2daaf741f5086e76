import fc from "fast-check";
import { keccak256 } from "viem";
import { describe, expect, test } from "vitest";
import { TokenCache, textIds, tokenize } from "../../../inference/codecs/text.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const tokensOf = (text: string, most = 64): string[] =>
  tokenize(bytes(text), most).map((token) => Buffer.from(token).toString());

describe("tokenize", () => {
  test.each([
    ["Hello, World!", ["hello", ",", "world", "!"]],
    ["a\tb\u007fc\u0000d", ["a", "b", "c", "d"]],
    ["Über 北京3", ["Über".replace("Ü", "Ü"), "北京3"]],
    ["see https://a.b/c?d=e now", ["see", "now"]],
    ["HTTP://x\u007fy z", ["z"]],
    ["http:/x https //", ["http", ":", "/", "x", "https", "/", "/"]],
    ["xhttp://y", ["xhttp", ":", "/", "/", "y"]],
    ["", []],
  ])("default: %j", (text, tokens) => {
    expect(tokensOf(text)).toEqual(tokens);
  });

  test("args: maxTokens", () => {
    expect(tokensOf("a b c", 2)).toEqual(["a", "b"]);
  });
});

/** The rule of docs/EXACT.md, section 5, word for word. */
function rowNumber(gram: Uint8Array, tag: number, rows: number): number {
  const key = new Uint8Array(32);
  key.set(gram);
  key[31] = tag;
  return 1 + Number(BigInt(keccak256(key)) % BigInt(rows - 1));
}

describe("textIds", () => {
  test("default", () => {
    const rows = 4096;
    const gram = (text: string, tag: number): number => rowNumber(bytes(text), tag, rows);
    const ids = textIds(bytes("Fell 12%"), { tokens: 4, grams: 4, rows });
    expect(Array.from(ids)).toEqual([
      ...[gram("fell", 4), gram("fel", 0x83), gram("ell", 0x83), gram("fell", 0x84), 0],
      ...[gram("12", 2), 0, 0, 0, 0],
      ...[gram("%", 1), 0, 0, 0, 0],
      ...[0, 0, 0, 0, 0],
    ]);
  });

  test("behavior: only the first 31 bytes of a token count, and the width cuts the n-grams", () => {
    const shape = { tokens: 1, grams: 15, rows: 1000 };
    const long = "abcdefghijklmnopqrstuvwxyz0123456789";
    expect(textIds(bytes(long), shape)).toEqual(textIds(bytes(long.slice(0, 31)), shape));
    expect(textIds(bytes(long), { ...shape, grams: 0 })).toHaveLength(1);
  });

  test("behavior: a cache changes nothing, and every id is a row of the table", () => {
    const shape = { tokens: 8, grams: 3, rows: 50 };
    const cache = new TokenCache(shape, 5);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (text) => {
        const ids = textIds(text, shape);
        expect(textIds(text, shape, cache)).toEqual(ids);
        expect(ids.every((id) => id >= 0 && id < 50)).toBe(true);
      }),
    );
  });

  test("behavior: two rows leave one hash", () => {
    expect(Array.from(textIds(bytes("ab"), { tokens: 1, grams: 0, rows: 2 }))).toEqual([1]);
  });
});
