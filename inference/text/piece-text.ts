/** What a derived classifier reads, as text: word pieces between its first and its last token. */
import { Tokenizer as Encoder } from "@huggingface/tokenizers";
import { fail } from "../onnx/fail.ts";
import { answerIds, askedNumbers, ID_OFFSET, NO_ID } from "./ids.ts";
import { namedText } from "./named-text.ts";
import { pieceDecoder } from "./piece-decoder.ts";
import { encoderParts, type PieceParts, readPieceFiles } from "./pieces-file.ts";
import { wellFormed } from "./tokenizer.ts";
import { type TokenizerFiles, vocabularyJson } from "./tokenizer-file.ts";

/** Characters that may become one id: a longer text is not counted. */
const LONGEST_PIECE = 2 ** 10;

/** Ideographs above U+FFFF, each of which is a word. Source: `is_chinese_char` of Hugging Face's tokenizers, in Rust. */
const IDEOGRAPHS =
  /[\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;

/** Does what the encoder leaves out of that normalization: it parts no ideograph above U+FFFF from the words beside it,
 *  which were then unknown, and lower case depends on what is beside a letter for none but this one. */
const normalized = (text: string): string => text.replace(IDEOGRAPHS, " $& ").replaceAll("Σ", "σ");

export class PieceText {
  readonly parts: PieceParts;
  /** most ids of a text, its first and its last token among them */
  readonly length: number;
  readonly #control: ReadonlySet<number>;
  readonly #encoder: Encoder;

  /** @throws TOKENIZER_INVALID, FILE_NOT_JSON */
  constructor(files: TokenizerFiles, length: number) {
    this.parts = readPieceFiles(files);
    this.length = length;
    this.#control = new Set(this.parts.control);
    const { model, ...rest } = encoderParts(this.parts);
    // Without control tokens: what a text says is text, whatever it looks like.
    const vocab = JSON.parse(vocabularyJson(this.parts.tokens)) as Record<string, number>;
    const parts = {
      ...rest,
      model: { ...model, vocab },
      added_tokens: [],
      post_processor: null,
      decoder: null,
    };
    this.#encoder = new Encoder(parts, {});
  }

  /** Ids of a text with its first and its last token. A piece that is written like a control token is unknown. */
  ids(text: string): number[] {
    const { first, last, unknown } = this.parts;
    const found = this.#encoder.encode(normalized(wellFormed(text)), { add_special_tokens: false });
    const pieces = found.ids.map((id: number) => (this.#control.has(id) ? unknown : id));
    return [first, ...pieces, last];
  }

  /** Ids of as much of a text as the model takes, with its first and its last token: for evaluations, whose texts are of
   *  any length. */
  beginning(text: string): number[] {
    const ids = this.ids(text);
    if (ids.length <= this.length) return ids;
    return [...ids.slice(0, this.length - 1), this.parts.last];
  }

  /** What the codec int16s packs: as many numbers as the model takes, nothing behind the text.
   *  @throws TEXT_TOO_LONG naming the ids and the limit */
  int16s(text: string): number[] {
    const least = Math.ceil(text.length / LONGEST_PIECE);
    if (least > this.length) throw tooLong(`at least ${least}`, this.length);
    const ids = this.ids(text);
    if (ids.length > this.length) throw tooLong(String(ids.length), this.length);
    return pieceNumbers(ids, this.length);
  }

  /** The word pieces that calldata hold, its control tokens by their names: what the text was is not told by them.
   *  @param calldata with their selector @throws CALLDATA_NOT_CANONICAL, INT16S_INVALID, ID_UNKNOWN */
  textOf(calldata: Uint8Array): { readonly text: string; readonly ids: readonly number[] } {
    const ids = answerIds(askedNumbers(calldata, this.length));
    const spaced = namedText(ids, pieceDecoder(this.parts), this.parts, " ");
    return { text: spaced.trimStart(), ids };
  }
}

/** What calldata hold of a text. @param size of the model's text, at least as many as there are ids */
export const pieceNumbers = (ids: readonly number[], size: number): number[] => [
  ...ids.map((id) => id - ID_OFFSET),
  ...new Array<number>(size - ids.length).fill(NO_ID),
];

const tooLong = (ids: string, limit: number) =>
  fail(
    "TEXT_TOO_LONG",
    `The text has ${ids} ids with its first and its last token, the model takes ${limit}.`,
    "Shorten it.",
    { ids, limit },
  );
