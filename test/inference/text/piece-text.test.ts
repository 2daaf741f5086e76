/** Texts to word pieces, and what is refused of their files. */
import { describe, expect, it } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { type GgufValue, readGguf } from "../../../inference/derive/gguf.ts";
import { derivedPieces } from "../../../inference/derive/tokenizer.ts";
import { askedIfAny } from "../../../inference/text/data-text.ts";
import { pieceDecoder } from "../../../inference/text/piece-decoder.ts";
import { PieceText } from "../../../inference/text/piece-text.ts";
import { readPieceFiles } from "../../../inference/text/pieces-file.ts";
import type { TokenizerFiles } from "../../../inference/text/tokenizer-file.ts";
import { classifyingBert } from "../../support/classifying-model.ts";

const [UNKNOWN, FIRST, LAST] = [1, 2, 3];
const NOTHING = 32_767;
const bert = classifyingBert();
const { metadata } = readGguf(bert.bytes);

function filesOf(changed: Readonly<Record<string, GgufValue>> = {}): TokenizerFiles {
  const entries = Object.entries(changed).map(([name, value]) => [`tokenizer.ggml.${name}`, value] as const);
  const file = { metadata: new Map([...metadata, ...entries]), tensors: new Map(), bytes: new Uint8Array(0) };
  const found = derivedPieces(file, bert.vocabulary);
  if ("without" in found) throw new Error(found.without);
  return found.files;
}

const pieces = new PieceText(filesOf(), 12);
const calldataOf = (int16s: readonly number[]): Uint8Array =>
  encodeInput({ inputCodec: "int16s", inputSize: 12 }, new Uint8Array(4), { codec: "int16s", int16s });
const filled = (count: number): number[] => new Array<number>(count).fill(NOTHING);
const idOf = (token: string): number => pieces.parts.tokens.indexOf(token);

function codeOf(action: () => unknown): string {
  try {
    action();
    return "none";
  } catch (error) {
    if (isBaseError(error)) return `${error.code}: ${error.shortMessage}`;
    throw error;
  }
}

describe("PieceText", () => {
  it("default: pieces between the first and the last token, nothing behind", () => {
    expect(pieces.parts.tokens.slice(4, 6)).toEqual(["a", "b"]);
    expect(idOf("##a")).toBeGreaterThan(0);
    const ids = pieces.ids("a Bab");
    expect(ids).toEqual([FIRST, idOf("a"), idOf("b"), idOf("##a"), idOf("##b"), LAST]);
    expect(pieces.int16s("a Bab")).toEqual([
      ...ids.map((id) => id - 32_768),
      ...new Array<number>(6).fill(NOTHING),
    ]);
    const decoder = pieceDecoder(pieces.parts);
    expect(ids.map((id) => decoder.next(id)).join("")).toBe(" a bab");
  });

  it("default: calldata read back are the pieces, with names of control tokens", () => {
    const calldata = (text: string) => calldataOf(pieces.int16s(text));
    expect(pieces.textOf(calldata("a Bab"))).toEqual({ text: "[CLS] a bab [SEP]", ids: pieces.ids("a Bab") });
    expect(pieces.textOf(calldata("9 a")).text).toBe("[CLS] [UNK] a [SEP]");
    const wrong = [...pieces.int16s("a").slice(0, -1), 0];
    expect(codeOf(() => pieces.textOf(calldataOf(wrong)))).toContain("ID_UNKNOWN");
    const selector = "0x00000000";
    const asked = (data: Uint8Array) => askedIfAny({ pieces, selector }, data);
    expect(asked(calldata("a Bab"))).toEqual(pieces.textOf(calldata("a Bab")));
    expect(asked(calldataOf(wrong))).toBeUndefined();
    expect(asked(new Uint8Array(5))).toBeUndefined();
    const [first = 0, a = 0, last = 0] = pieces.int16s("a");
    expect(codeOf(() => pieces.textOf(calldataOf([first, NOTHING, a, last, ...filled(8)])))).toContain(
      "ID_UNKNOWN",
    );
    expect(asked(calldataOf([...filled(9), first, a, last]))).toBeUndefined();
  });

  it("behavior: what looks like a control token is text", () => {
    for (const text of ["[CLS]", "[SEP]", "a [PAD] [UNK]"])
      expect(
        pieces
          .ids(text)
          .slice(1, -1)
          .filter((id) => id < 4 && id !== UNKNOWN),
      ).toEqual([]);
  });

  it("behavior: letters of no piece, and halves of surrogates, are unknown", () => {
    expect(pieces.ids("\u4e2d \ud800 a")).toEqual([FIRST, UNKNOWN, idOf("a"), LAST]);
    expect(pieces.ids("9")).toEqual([FIRST, UNKNOWN, LAST]);
    expect(pieces.ids("")).toEqual([FIRST, LAST]);
  });

  it("behavior: ideographs above U+FFFF are words, and lower case does not hang on what is beside a letter", () => {
    // What Hugging Face's tokenizers in Rust make of these texts: words beside an ideograph stay words, Σ is never ς.
    const [one, alone] = ["\u{20000}", "\u03c3"];
    const tokens = metadata.get("tokenizer.ggml.tokens") as readonly string[];
    const greek = new PieceText(filesOf({ tokens: [...tokens.slice(0, -2), "\u2581\u03b1", alone] }), 12);
    const of = (token: string) => greek.parts.tokens.indexOf(token);
    expect(greek.ids(`a${one}B`)).toEqual([FIRST, of("a"), UNKNOWN, of("b"), LAST]);
    expect(greek.ids("\u0391\u03a3")).toEqual([FIRST, of("\u03b1"), of(`##${alone}`), LAST]);
  });

  it("error: a text that is too long, and one that is far too long", () => {
    expect(codeOf(() => pieces.int16s("a ".repeat(11)))).toContain("TEXT_TOO_LONG: The text has 13 ids");
    expect(codeOf(() => pieces.int16s("a".repeat(2 ** 20)))).toContain(
      "TEXT_TOO_LONG: The text has at least",
    );
  });
});

describe("files", () => {
  it("default: they are read as they were written, and nothing else is", () => {
    const files = filesOf();
    expect(readPieceFiles(files)).toEqual(pieces.parts);
    const other = (name: keyof TokenizerFiles, from: string, to: string) => {
      const text = new TextDecoder().decode(files[name]);
      expect(text).toContain(from);
      return { ...files, [name]: new TextEncoder().encode(text.replace(from, to)) };
    };
    for (const [name, from, to] of [
      ["tokenizer.json", '"lowercase":true', '"lowercase":false'],
      ["tokenizer.json", '"max_input_chars_per_word":100', '"max_input_chars_per_word":9'],
      ["tokenizer.json", '"prefix":"##"', '"prefix":"#"'],
      ["tokenizer_config.json", '"do_lower_case": true', '"do_lower_case": false'],
    ] as const)
      expect(
        codeOf(() => readPieceFiles(other(name, from, to))),
        from,
      ).toContain("TOKENIZER_INVALID");
  });

  it.each<[string, Readonly<Record<string, GgufValue>>]>([
    ["an id of no token", { cls_token_id: 60_000 }],
    ["no last token", { seperator_token_id: -1 }],
    ["a first token that texts hold", { cls_token_id: 5 }],
    [
      "a token that is there twice",
      { tokens: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ...new Array<string>(bert.vocabulary - 4).fill("a")] },
    ],
    ["fewer tokens than ids", { tokens: ["a"] }],
  ])("error: %s", (_, changed) => {
    expect(codeOf(() => filesOf(changed))).toContain("TOKENIZER_INVALID");
  });

  it("behavior: another kind of tokenizer gives no text, and says why", () => {
    expect(() => filesOf({ model: "t5" })).toThrow('is "t5", only bert is read');
  });
});
