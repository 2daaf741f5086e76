import { keccak256 } from "../commit/keccak.ts";

/** Shape of the id tensor that the text codec writes: s32 [tokens, 1 + grams]. */
export interface TextShape {
  /** Tokens kept, the rest of the text is ignored; 1 to 64. */
  readonly tokens: number;
  /** Character n-grams kept of each token; 0 to 15. */
  readonly grams: number;
  /** Rows of the table that the ids point into, row 0 (absent) included; 2 to 2^24. */
  readonly rows: number;
}

/** Longest prefix of a token that enters its hash, in bytes. */
const TOKEN_BYTES = 31;

const isWordByte = (b: number): boolean =>
  b >= 0x80 || (b >= 0x61 && b <= 0x7a) || (b >= 0x41 && b <= 0x5a) || (b >= 0x30 && b <= 0x39);
const isSpaceByte = (b: number): boolean => b <= 0x20 || b === 0x7f;
const lower = (b: number): number => (b >= 0x41 && b <= 0x5a ? b + 0x20 : b);

/** Splits bytes into lower-case tokens: runs of ASCII letters, digits and bytes from 0x80 up, or one other
 *  visible byte. `http://…` and `https://…` are dropped up to the next byte <= 0x20.
 *  Total: every byte string has exactly one result. Source: docs/EXACT.md, codec text. */
export function tokenize(text: Uint8Array, maxTokens: number): Uint8Array[] {
  const tokens: Uint8Array[] = [];
  let i = 0;
  while (i < text.length && tokens.length < maxTokens) {
    const b = text[i] as number;
    if (isSpaceByte(b)) {
      i++;
    } else if (!isWordByte(b)) {
      tokens.push(text.slice(i, i + 1));
      i++;
    } else {
      let end = i;
      while (end < text.length && isWordByte(text[end] as number)) end++;
      const token = text.slice(i, end).map(lower);
      if (isUrlScheme(token) && startsWithColonSlashSlash(text, end)) {
        i = end;
        while (i < text.length && (text[i] as number) > 0x20) i++;
      } else {
        tokens.push(token);
        i = end;
      }
    }
  }
  return tokens;
}

function isUrlScheme(token: Uint8Array): boolean {
  const word = String.fromCharCode(...token.subarray(0, 6));
  return token.length <= 5 && (word === "http" || word === "https");
}

function startsWithColonSlashSlash(text: Uint8Array, at: number): boolean {
  return text[at] === 0x3a && text[at + 1] === 0x2f && text[at + 2] === 0x2f;
}

/** Table row of one hash key: 1 + keccak256(key as 32 bytes) mod (rows - 1), so never the zero row.
 *  The key holds the bytes left-aligned and `tag` in its last byte. */
function rowOf(bytes: Uint8Array, tag: number, rows: number): number {
  const key = new Uint8Array(32);
  key.set(bytes);
  key[31] = tag;
  let remainder = 0;
  for (const b of keccak256(key)) remainder = (256 * remainder + b) % (rows - 1);
  return 1 + remainder;
}

/** Table rows of one token: the token itself, then its 3-grams and after them its 4-grams, each from left to
 *  right; at most `grams` n-grams in all, and none for tokens of one or two bytes. */
export function tokenRows(token: Uint8Array, shape: TextShape): number[] {
  const kept = token.subarray(0, TOKEN_BYTES);
  const rows = [rowOf(kept, kept.length, shape.rows)];
  for (const size of [3, 4]) {
    for (let start = 0; start + size <= kept.length && rows.length <= shape.grams; start++) {
      rows.push(rowOf(kept.subarray(start, start + size), 0x80 | size, shape.rows));
    }
  }
  return rows;
}

/** Rows of tokens seen before: most tokens of a text are common ones, and a token costs up to 16 hashes. */
export class TokenCache {
  readonly #shape: TextShape;
  readonly #limit: number;
  readonly #known = new Map<string, readonly number[]>();

  /** @param limit tokens kept; the cache empties itself when it is full */
  constructor(shape: TextShape, limit = 65_536) {
    this.#shape = shape;
    this.#limit = limit;
  }

  rowsOf(token: Uint8Array): readonly number[] {
    const key = String.fromCharCode(...token.subarray(0, TOKEN_BYTES));
    let rows = this.#known.get(key);
    if (rows === undefined) {
      rows = tokenRows(token, this.#shape);
      if (this.#known.size >= this.#limit) this.#known.clear();
      this.#known.set(key, rows);
    }
    return rows;
  }
}

/** Ids of a text: s32 [tokens, 1 + grams] in row-major order, 0 where there is no token or n-gram.
 *  @param cache one of the same shape: same ids, fewer hashes */
export function textIds(text: Uint8Array, shape: TextShape, cache?: TokenCache): Int32Array {
  const width = 1 + shape.grams;
  const ids = new Int32Array(shape.tokens * width);
  tokenize(text, shape.tokens).forEach((token, n) => {
    ids.set(cache === undefined ? tokenRows(token, shape) : cache.rowsOf(token), n * width);
  });
  return ids;
}
