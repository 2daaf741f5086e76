/** Writes the id tensors of texts, by the text codec itself, for the training scripts.
 *
 *  npx tsx models/shared/text-ids.ts TOKENS GRAMS ROWS < lines > ids
 *  stdin: one text a line, its bytes in base64. stdout: int32, little-endian, TOKENS * (1 + GRAMS) a text. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

import { type TextShape, tokenize, tokenRows } from "../../inference/codecs/text.ts";

const FLUSH_BYTES = 1 << 22;

const [tokens = 0, grams = 0, rows = 0] = process.argv.slice(2).map(Number);
const shape: TextShape = { tokens, grams, rows };
if (!(tokens >= 1 && tokens <= 64 && grams >= 0 && grams <= 15 && rows >= 2 && rows <= 2 ** 24)) {
  throw new Error("usage: tsx models/shared/text-ids.ts TOKENS GRAMS ROWS < lines > ids");
}

const width = 1 + shape.grams;
const known = new Map<string, number[]>();

function rowsOf(token: Uint8Array): number[] {
  const key = Buffer.from(token).toString("latin1");
  let found = known.get(key);
  if (found === undefined) {
    found = tokenRows(token, shape);
    known.set(key, found);
  }
  return found;
}

function idsOf(text: Uint8Array): Buffer {
  const ids = Buffer.alloc(shape.tokens * width * 4);
  tokenize(text, shape.tokens).forEach((token, n) => {
    rowsOf(token).forEach((row, j) => {
      ids.writeInt32LE(row, (n * width + j) * 4);
    });
  });
  return ids;
}

function write(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

let pending: Buffer[] = [];
let size = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const ids = idsOf(Buffer.from(line, "base64"));
  pending.push(ids);
  size += ids.length;
  if (size >= FLUSH_BYTES) {
    write(Buffer.concat(pending));
    pending = [];
    size = 0;
  }
}
write(Buffer.concat(pending));
