/** Texts to ids and back, of a small vocabulary that has all bytes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wellFormed } from "../../../inference/text/tokenizer.ts";
import { BEGIN, CONTROL, END, smallText, tokenizerEntries } from "../../support/small-tokenizer.ts";

const { tokenizer } = smallText();
/** Any UTF-16, with halves of pairs of surrogates and control tokens in it. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom(...CONTROL, " ", "\n", "\ufeff", "\ud800", "\udc00", "\udbff\ud800", "abab", " the"),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("Tokenizer", () => {
  it("default: merges in their order, inside words", () => {
    expect(tokenizer.ids(" the ab12").map((id) => tokenizer.parts.tokens[id])).toEqual([
      ...["Ġthe", "Ġa", "b", "1", "2"],
    ]);
    const words = { ...tokenizerEntries(), "tokenizer.ggml.pre": ["string", "gpt-2"] } as const;
    const { tokenizer: other } = smallText(100, words);
    expect(other.ids("ab12").map((id) => other.parts.tokens[id])).toEqual(["ab", "12"]);
  });

  it("behavior: a text becomes ids that give the text, without a control token", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const ids = tokenizer.ids(text);
        expect(tokenizer.text(ids)).toBe(wellFormed(text));
        expect(ids.some((id) => id < CONTROL.length)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("behavior: a half of a pair of surrogates is U+FFFD", () => {
    expect(tokenizer.text(tokenizer.ids("a\ud83db\udc00"))).toBe("a\ufffdb\ufffd");
  });

  it("behavior: id by id, a text is the whole's, and no part has a piece of a character", () => {
    const anyIds = fc.oneof(
      fc.array(fc.integer({ min: 0, max: tokenizer.parts.tokens.length - 1 }), { maxLength: 60 }),
      anyText.map((text) => tokenizer.ids(text)),
    );
    fc.assert(
      fc.property(anyIds, (ids) => {
        const decoder = tokenizer.decoder();
        const parts = [...ids.map((id) => decoder.next(id)), decoder.end()];
        expect(parts.join("")).toBe(tokenizer.text(ids));
      }),
      { numRuns: 2_000 },
    );
    const decoder = tokenizer.decoder();
    expect(tokenizer.ids("😀").map((id) => decoder.next(id))).toEqual(["", "", "😀"]);
    expect([decoder.next(tokenizer.ids("é")[0] as number), decoder.end()]).toEqual(["é", ""]);
  });

  it("behavior: control tokens have no text", () => {
    const [a] = tokenizer.ids("a");
    expect(tokenizer.text([BEGIN, a as number, END])).toBe("a");
  });

  it("error: ids that are no token's, and bytes that no token has", () => {
    expect(() => tokenizer.text([tokenizer.parts.tokens.length])).toThrow(
      /The id 278 is no token's: the model has the ids 0 to 277/,
    );
    expect(() => tokenizer.text([-1])).toThrow(/The id -1 is no token's/);
    const entries = tokenizerEntries();
    const [, , tokens] = entries["tokenizer.ggml.tokens"] as unknown as [string, string, string[]];
    const without = tokens.map((token) => (token === "\u0107" ? "<gone>" : token));
    const changed = { ...entries, "tokenizer.ggml.tokens": ["array", "string", without] } as const;
    expect(() => smallText(100, changed).tokenizer.ids("ring the \x07")).toThrow(
      /The text has the byte 0x07 in UTF-8, which the model's vocabulary does not have/,
    );
  });
});
