/** Texts to ids and back, by byte-level BPE. */
import { Tokenizer as Encoder } from "@huggingface/tokenizers";
import { fail } from "../onnx/fail.ts";
import { Detokenizer, type StreamDecoder, utf8Text } from "./detokenizer.ts";
import { splittingOf } from "./splitting.ts";
import {
  readTokenizerFiles,
  type TokenizerFiles,
  type TokenizerParts,
  vocabularyJson,
} from "./tokenizer-file.ts";

export class Tokenizer {
  readonly parts: TokenizerParts;
  /** by name, ids of tokens that no text becomes */
  readonly control: ReadonlyMap<string, number>;
  /** most bytes that an id stands for */
  readonly longest: number;
  readonly #detokenizer: Detokenizer;
  readonly #encoder: Encoder;
  /** that no token stands for alone */
  readonly #unknownBytes: ReadonlySet<number>;

  /** @throws TOKENIZER_INVALID naming what is wrong in the files; FILE_NOT_JSON */
  constructor(files: TokenizerFiles) {
    this.parts = readTokenizerFiles(files);
    const { tokens, merges, control, splitting } = this.parts;
    this.control = new Map(control.map((id) => [tokens[id] as string, id]));
    this.#detokenizer = new Detokenizer(this.parts);
    const { bytes } = this.#detokenizer;
    this.longest = bytes.reduce((most, { length }) => Math.max(most, length), 1);
    const known = new Set(bytes.flatMap((each) => (each.length === 1 ? [each[0] as number] : [])));
    this.#unknownBytes = new Set(Array.from({ length: 256 }, (_, byte) => byte).filter((b) => !known.has(b)));
    // Without control tokens: what a text says is text, whatever it looks like.
    const model = { type: "BPE", vocab: JSON.parse(vocabularyJson(tokens)), merges };
    const parts = { model, pre_tokenizer: splittingOf(splitting), added_tokens: [] };
    this.#encoder = new Encoder({ ...parts, normalizer: null, post_processor: null, decoder: null }, {});
  }

  /** Ids of a text, of which none is a control token's. Halves of a pair of surrogates that are alone become U+FFFD.
   *  @throws TEXT_NOT_ENCODABLE for a byte that the vocabulary does not have */
  ids(text: string): number[] {
    const bytes = new TextEncoder().encode(text);
    const unknown = bytes.find((byte) => this.#unknownBytes.has(byte));
    if (unknown !== undefined)
      throw fail(
        "TEXT_NOT_ENCODABLE",
        `The text has the byte 0x${unknown.toString(16).padStart(2, "0")} in UTF-8, which the model's vocabulary does not have.`,
        "Leave that character out.",
        { byte: unknown },
      );
    return this.#encoder.encode(utf8Text(bytes), { add_special_tokens: false }).ids;
  }

  /** As `Detokenizer.text`. @throws ID_UNKNOWN */
  text(ids: readonly number[]): string {
    return this.#detokenizer.text(ids);
  }

  /** As `Detokenizer.decoder`. */
  decoder(): StreamDecoder {
    return this.#detokenizer.decoder();
  }
}

/** Halves of a pair of surrogates that are alone become U+FFFD, as they do in UTF-8. */
export const wellFormed = (text: string): string => utf8Text(new TextEncoder().encode(text));
