/** Files that are no GGUF files: the reader says so, with one code, before it takes memory for what is not there. */
import { describe, expect, it } from "vitest";
import { concatBytes, viewOf } from "../../../base/bytes.ts";
import { isBaseError } from "../../../base/errors.ts";
import { type Gguf, readGguf, readRow, reals } from "../../../inference/derive/gguf.ts";
import { quantizedRows } from "../../../inference/derive/quantized-rows.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import {
  type Entry,
  type FileTensor,
  ggufFile,
  ggufHead,
  randomTensor,
  text,
  u32,
  u64,
} from "../../support/gguf-file.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const FLIPS = scaled(4_000, 100_000);

const MAGIC = new TextEncoder().encode("GGUF");
const ZERO = u64(0);
/** A head with counts and whatever follows. */
const head = (tensors: number | bigint, entries: number | bigint, ...rest: readonly Uint8Array[]) =>
  concatBytes(MAGIC, u32(3), u64(tensors), u64(entries), ...rest);
const info = (name: string, dims: readonly (number | bigint)[], format: number, offset: number | bigint) =>
  concatBytes(text(name), u32(dims.length), ...dims.map(u64), u32(format), u64(offset));

/** An entry: false, that often. */
const list = (key: string, length: number) =>
  concatBytes(text(key), u32(9), u32(7), u64(length), new Uint8Array(length));

/** What the reader says, without what is the same in all it says. */
function refusal(bytes: Uint8Array): string {
  try {
    readGguf(bytes);
  } catch (error) {
    if (isBaseError(error, "GGUF_INVALID"))
      return error.shortMessage.replace("The GGUF file cannot be read: ", "");
    throw error;
  }
  return "read";
}

const metadata: Readonly<Record<string, Entry>> = {
  "general.architecture": ["string", "llama"],
  "llama.rope.freq_base": ["f32", 10_000],
  "llama.block_count": ["u32", 2],
  "some.flag": ["bool", true],
  "tokenizer.ggml.tokens": ["array", "string", ["a", "bc", ""]],
  "general.alignment": ["u32", 32],
};
const rng = createRng(1);
const tensors: readonly (readonly [string, FileTensor])[] = (
  [
    ["a", "F32", [7]],
    ["b", "Q8_0", [2, 32]],
    ["c", "F16", [3, 5]],
    ["d", "Q4_1", [1, 64]],
    ["e", "Q4_0", [2, 2, 32]],
  ] as const
).map(([name, format, dims]) => [name, randomTensor(rng, format, dims, 1)]);
const FILE = ggufFile({ metadata, tensors });

describe("readGguf", () => {
  const tensor = tensors[1]?.[1] as FileTensor;
  const wide = new Array<bigint>(4).fill(2n ** 31n);

  it("error: a file that ends anywhere in front of its last byte", () => {
    expect(refusal(FILE)).toBe("read");
    const length = ggufHead({ metadata, tensors }).length;
    for (let end = 0; end < FILE.length; end++) {
      const expected = end < length ? /^it (ends at byte \d+, in its head)/ : /^tensor \w ends at byte/;
      expect(refusal(FILE.subarray(0, end)), `${end} of ${FILE.length}`).toMatch(expected);
    }
  });

  it.each<[string, Uint8Array, string]>([
    [
      "another magic",
      concatBytes(new TextEncoder().encode("GGML"), FILE.subarray(4)),
      "it does not begin with GGUF.",
    ],
    ["version 2", concatBytes(MAGIC, u32(2), FILE.subarray(8)), "it has version 2, version 3 is read."],
    [
      "the other byte order",
      concatBytes(MAGIC, Uint8Array.of(0, 0, 0, 3), ZERO, ZERO),
      "it has version 50331648, ",
    ],
    ["2^64 − 1 tensors", head(2n ** 64n - 1n, 0), "it has 18446744073709551615 tensors, "],
    ["4,097 tensors", head(4_097, 0), "it has 4097 tensors, at most 4096 are read."],
    ["2^63 entries", head(0, 2n ** 63n), "it has 9223372036854775808 metadata entries, "],
    ["as many as may be, none there", head(4_096, 4_096), "it ends at byte 24, in its head."],
    ["tensors that are not there", head(4_096, 0), "it ends at byte 24, in its head."],
    ["a key of 2^62 bytes", head(0, 1, u64(2n ** 62n)), "it has 4611686018427387904 bytes of a text, "],
    ["a key that is not there", head(0, 1, u64(2 ** 20)), "it ends at byte 32, in its head."],
    [
      "a list of 2^64 − 1",
      head(0, 1, text("k"), u32(9), u32(0), u64(2n ** 64n - 1n)),
      "it has 18446744073709551615 elements of k, ",
    ],
    [
      "a list that is not there",
      head(0, 1, text("k"), u32(9), u32(8), u64(2 ** 20)),
      "it ends at byte 49, in its head.",
    ],
    [
      "a list of lists",
      head(0, 1, text("k"), u32(9), u32(9), u64(1), u32(4), u64(0)),
      "its entry k is a list of lists.",
    ],
    ["an unknown type", head(0, 1, text("k"), u32(13), ZERO), "its entry k has the type 13, "],
    [
      "a name of 2^20 characters",
      head(1, 0, info("n".repeat(2 ** 20), [], 0, 0)),
      `tensor ${"n".repeat(293)}….`,
    ],
    [
      "a name that a terminal obeys",
      head(1, 0, info("\u001b[31m\n\u202e", [], 0, 0)),
      "tensor ?[31m?? has 0 dims.",
    ],
    [
      "an unknown type in a list",
      head(0, 1, text("k"), u32(9), u32(99), u64(1), ZERO),
      "its entry k has the type 99, ",
    ],
    [
      "an unknown format",
      head(1, 0, info("t", [32], 12, 0), new Uint8Array(999)),
      "tensor t has the format 12; F32, F16, Q4_0, Q4_1, Q8_0 are read.",
    ],
    ["no dims", head(1, 0, info("t", [], 0, 0), new Uint8Array(99)), "tensor t has 0 dims."],
    ["five dims", head(1, 0, info("t", [1, 1, 1, 1, 1], 0, 0), new Uint8Array(99)), "tensor t has 5 dims."],
    [
      "2^32 − 1 dims",
      head(1, 0, text("t"), u32(2 ** 32 - 1), new Uint8Array(99)),
      "tensor t has 4294967295 dims.",
    ],
    ["a dim of 2^40", head(1, 0, info("t", [2n ** 40n], 0, 0)), "it has 1099511627776 in a dim of t, "],
    ["2^124 numbers", head(1, 0, info("t", wide, 8, 0), new Uint8Array(99)), "tensor t ends at byte 2.2"],
    [
      "an offset of 2^63",
      head(1, 0, info("t", [1], 0, 2n ** 63n)),
      "it has 9223372036854775808 bytes in front of t, ",
    ],
    [
      "an offset of 2^53 − 1",
      head(1, 0, info("t", [1], 0, 2n ** 53n - 1n), new Uint8Array(99)),
      "tensor t ends at byte 90071992547410",
    ],
    [
      "an offset at the end",
      head(1, 0, info("t", [1], 0, 92), new Uint8Array(99)),
      "tensor t ends at byte 160, the file has 156.",
    ],
    [
      "rows that end inside a block",
      head(1, 0, info("t", [33, 32], 8, 0), new Uint8Array(9_999)),
      "tensor t has rows of 33, blocks of Q8_0 are 32.",
    ],
    [
      "two tensors of a name",
      ggufFile({
        tensors: [
          ["t", tensor],
          ["u", tensor],
          ["t", tensor],
        ],
      }),
      "it has two tensors t.",
    ],
  ])("error: %s", (_, bytes, expected) => {
    const began = cpuMs();
    expect(refusal(bytes).startsWith(expected), refusal(bytes)).toBe(true);
    // Nothing is taken for what a count says is there.
    expect(cpuMs() - began).toBeLessThan(2_000);
  });

  it("error: lists of more than 2^21 elements together", () => {
    const lists = ["k", "l", "m"].map((key) => list(key, 2 ** 20));
    expect(refusal(head(0, 3, ...lists))).toBe("its lists have more than 2097152 elements up to m.");
  });

  it.each<[string, Entry]>([
    ["0", ["u32", 0]],
    ["a text", ["string", "32"]],
    ["below 0", ["i32", -32]],
    ["not a number", ["f32", Number.NaN]],
    ["infinite", ["f32", Number.POSITIVE_INFINITY]],
    ["a number of 64 bits", ["u64", 32]],
    ["a list", ["array", "u32", [32]]],
  ])("error: an alignment that is %s", (_, entry) => {
    const made = ggufFile({ metadata: { "general.alignment": entry }, tensors });
    expect(refusal(made)).not.toBe("read");
  });
});

/** Reads all that a file has. */
function readAll(file: Gguf): void {
  for (const tensor of file.tensors.values()) {
    const { dims, type } = tensor;
    const rows = dims.slice(0, -1).reduce((product, dim) => product * dim, 1);
    const length = dims.at(-1) as number;
    if (type === "F32") reals(file, tensor);
    else if (rows > 0)
      for (let row = 0; row < rows; row++) readRow(file, tensor, row, new Float64Array(length));
    if (type !== "F32" && dims.length === 2 && rows > 0) quantizedRows(file, tensor);
  }
}

it("behavior: of a file with changed bytes all is read, or the reader says that it is broken", () => {
  const counts = { read: 0, refused: 0 };
  const random = createRng(2);
  const length = ggufHead({ metadata, tensors }).length;
  for (let i = 0; i < FLIPS; i++) {
    const bytes = FILE.slice();
    for (let change = random.int(1, 3); change > 0; change--) {
      const at = random.int(0, (random.chance(0.8) ? length : bytes.length) - 1);
      const value = bytes[at] as number;
      bytes[at] = random.chance(0.5) ? value ^ (1 << random.int(0, 7)) : random.pick([0, 1, 127, 128, 255]);
    }
    // Eight bytes of a count at once, too.
    if (random.chance(0.1)) viewOf(bytes).setBigUint64(random.int(8, length - 8), 2n ** 64n - 1n, true);
    try {
      readAll(readGguf(bytes));
      counts.read += 1;
    } catch (error) {
      if (!isBaseError(error, "GGUF_INVALID")) throw error;
      counts.refused += 1;
    }
  }
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(FLIPS / 10);
});
