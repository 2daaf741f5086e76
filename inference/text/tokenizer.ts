/** Texts to ids and back, by byte-level BPE. */
import { Tokenizer as Encoder } from "@huggingface/tokenizers";
import { concatBytes } from "../../base/bytes.ts";
import { fail } from "../onnx/fail.ts";
import { tokenBytes } from "./byte-level.ts";
import { splittingOf } from "./splitting.ts";
import {
  readTokenizerFiles,
  type TokenizerFiles,
  type TokenizerParts,
  vocabularyJson,
} from "./tokenizer-file.ts";

/** Gives an answer's text while its ids are found. */
export interface StreamDecoder {
  /** The text that this id completes, "" while a character still lacks bytes. */
  next(id: number): string;
  /** What is left: U+FFFD for a character that lacks bytes. */
  end(): string;
}

const NOTHING = new Uint8Array(0);

export class Tokenizer {
  readonly parts: TokenizerParts;
  /** by name, ids of tokens that no text becomes */
  readonly control: ReadonlyMap<string, number>;
  /** most bytes that an id stands for */
  readonly longest: number;
  /** by id; none for a control token */
  readonly #bytes: readonly Uint8Array[];
  readonly #encoder: Encoder;
  /** that no token stands for alone */
  readonly #unknownBytes: ReadonlySet<number>;

  /** @throws TOKENIZER_INVALID naming what is wrong in the files; FILE_NOT_JSON */
  constructor(files: TokenizerFiles) {
    this.parts = readTokenizerFiles(files);
    const { tokens, merges, control, splitting } = this.parts;
    this.control = new Map(control.map((id) => [tokens[id] as string, id]));
    const isControl = new Set(control);
    this.#bytes = tokens.map((token, id) => (isControl.has(id) ? NOTHING : (tokenBytes(token) ?? NOTHING)));
    this.longest = this.#bytes.reduce((most, { length }) => Math.max(most, length), 1);
    const known = new Set(this.#bytes.flatMap((bytes) => (bytes.length === 1 ? [bytes[0] as number] : [])));
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
    return this.#encoder.encode(textOf(bytes), { add_special_tokens: false }).ids;
  }

  /** The text of ids, without control tokens; bytes that are no UTF-8 become U+FFFD. @throws ID_UNKNOWN */
  text(ids: readonly number[]): string {
    return textOf(concatBytes(...ids.map((id) => this.#bytesOf(id))));
  }

  /** The same, id by id: its parts joined are that text. */
  decoder(): StreamDecoder {
    const decoder = newDecoder();
    return {
      next: (id) => decoder.decode(this.#bytesOf(id), { stream: true }),
      end: () => decoder.decode(),
    };
  }

  #bytesOf(id: number): Uint8Array {
    const bytes = this.#bytes[id];
    if (bytes !== undefined) return bytes;
    throw fail(
      "ID_UNKNOWN",
      `The id ${id} is no token's: the model has the ids 0 to ${this.#bytes.length - 1}.`,
      "Take the ids that this model gave.",
      { id, limit: this.#bytes.length - 1 },
    );
  }
}

/** Without it, a mark of the order of bytes would be left out of a text that begins with one. */
const newDecoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
const textOf = (bytes: Uint8Array): string => newDecoder().decode(bytes);
/** Halves of a pair of surrogates that are alone become U+FFFD, as they do in UTF-8. */
export const wellFormed = (text: string): string => textOf(new TextEncoder().encode(text));
