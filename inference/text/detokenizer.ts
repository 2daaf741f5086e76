/** Ids to text, by the tokens of a byte-level vocabulary. */
import { concatBytes } from "../../base/bytes.ts";
import { tokenBytes } from "./byte-level.ts";
import { unknownId } from "./ids.ts";
import type { TokenizerParts } from "./tokenizer-file.ts";

/** Gives an answer's text while its ids are found. */
export interface StreamDecoder {
  /** The text that this id completes, "" while a character still lacks bytes. */
  next(id: number): string;
  /** What is left: U+FFFD for a character that lacks bytes. */
  end(): string;
}

const NOTHING = new Uint8Array(0);

export class Detokenizer {
  /** by id, the bytes that it stands for; none for a control token */
  readonly bytes: readonly Uint8Array[];

  constructor({ tokens, control }: Pick<TokenizerParts, "tokens" | "control">) {
    const isControl = new Set(control);
    this.bytes = tokens.map((token, id) => (isControl.has(id) ? NOTHING : (tokenBytes(token) ?? NOTHING)));
  }

  /** The text of ids, without control tokens; bytes that are no UTF-8 become U+FFFD. @throws ID_UNKNOWN */
  text(ids: readonly number[]): string {
    return utf8Text(concatBytes(...ids.map((id) => this.#bytesOf(id))));
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
    const bytes = this.bytes[id];
    if (bytes !== undefined) return bytes;
    throw unknownId(id, this.bytes.length);
  }
}

/** Without it, a mark of the order of bytes would be left out of a text that begins with one. */
const newDecoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
/** Bytes that are no UTF-8 become U+FFFD. */
export const utf8Text = (bytes: Uint8Array): string => newDecoder().decode(bytes);
