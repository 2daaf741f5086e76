/** Word pieces to text, for readers: what a text was is not told by its pieces. */
import type { StreamDecoder } from "./detokenizer.ts";
import { unknownId } from "./ids.ts";
import { CONTINUES, type PieceParts } from "./pieces-file.ts";

/** Text of each id: of a piece that begins a word with a space in front, of a control token nothing. @throws ID_UNKNOWN */
export function pieceDecoder({ tokens, control }: PieceParts): StreamDecoder {
  const isControl = new Set(control);
  return {
    next(id) {
      const token = tokens[id];
      if (token === undefined) throw unknownId(id, tokens.length);
      if (isControl.has(id)) return "";
      return token.startsWith(CONTINUES) ? token.slice(CONTINUES.length) : ` ${token}`;
    },
    end: () => "",
  };
}
