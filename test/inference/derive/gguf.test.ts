/** The reader of GGUF files against numbers and files that are written apart from it, and against broken ones. */
import { describe, expect, it } from "vitest";
import { concatBytes } from "../../../base/bytes.ts";
import {
  type Gguf,
  type GgufTensor,
  HALF_UNIT,
  readGguf,
  readRow,
  reals,
} from "../../../inference/derive/gguf.ts";
import {
  type Entry,
  type FileTensor,
  FORMATS,
  type FormatName,
  ggufFile,
  ggufHead,
  randomTensor,
} from "../../support/gguf-file.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const FILES = scaled(60, 600);
const BLOCKS = ["F16", "Q4_0", "Q4_1", "Q8_0"] as const satisfies readonly FormatName[];

const ofOne = (tensor: FileTensor): Gguf => readGguf(ggufFile({ tensors: [["x", tensor]] }));
const tensorIn = (file: Gguf, name = "x"): GgufTensor => file.tensors.get(name) as GgufTensor;
function rowOf(file: Gguf, row: number, name = "x"): number[] {
  const tensor = tensorIn(file, name);
  const into = new Float64Array(tensor.dims.at(-1) as number);
  readRow(file, tensor, row, into);
  return Array.from(into);
}

/** A number as a fraction of whole numbers, in multiples of 2^-24: (−1)^sign · (1 + f/2^10) · 2^(e − 15), and
 *  (−1)^sign · f/2^10 · 2^-14 where e is 0. */
function halfUnits(low: number, high: number): bigint {
  const [sign, e, f] = [high >> 7, (high >> 2) & 31, BigInt((high & 3) * 256 + low)];
  const size = e === 0 ? (f << 24n) / 2n ** 24n : ((1024n + f) * 2n ** 24n * 2n ** BigInt(e)) / 2n ** 25n;
  return sign === 1 ? -size : size;
}

/** The numbers of a tensor's bytes, in multiples of 2^-24. */
function unitsOf(format: FormatName, bytes: Uint8Array): bigint[] {
  const [, length, size] = FORMATS[format];
  const at = (i: number) => bytes[i] as number;
  return Array.from({ length: bytes.length / size }, (_, n) => n * size).flatMap((from) => {
    const d = halfUnits(at(from), at(from + 1));
    if (format === "F16") return [d];
    return Array.from({ length }, (_, i) => {
      if (format === "Q8_0") return d * BigInt.asIntN(8, BigInt(at(from + 2 + i)));
      const pair = at(from + (format === "Q4_0" ? 2 : 4) + (i % 16));
      const nibble = BigInt(i < 16 ? pair % 16 : Math.floor(pair / 16));
      return format === "Q4_0" ? d * (nibble - 8n) : d * nibble + halfUnits(at(from + 2), at(from + 3));
    });
  });
}

/** Any bytes but scales that are no numbers. */
function anyBytes(rng: Rng, format: FormatName, blocks: number): Uint8Array {
  const size = FORMATS[format][2];
  const bytes = rng.bytes(blocks * size);
  const halves = format === "Q4_1" ? [1, 3] : [1];
  for (let block = 0; block < blocks; block++)
    for (const half of halves) {
      const at = block * size + half;
      if (((bytes[at] as number) & 0x7c) === 0x7c) bytes[at] = (bytes[at] as number) ^ (1 << rng.int(2, 6));
    }
  return bytes;
}

describe("readRow", () => {
  it("default: all 65,536 numbers of 16 bits; what is no number is refused", () => {
    const bytes = Uint8Array.from({ length: 2 * 65_536 }, (_, i) => (i % 2 === 0 ? i >> 1 : i >> 9) & 255);
    const file = ofOne({ dims: [65_536, 1], format: "F16", bytes });
    for (let bits = 0; bits < 65_536; bits++) {
      const isNumber = ((bits >> 10) & 31) !== 31;
      if (isNumber) expect(BigInt(rowOf(file, bits)[0] as number)).toBe(halfUnits(bits & 255, bits >> 8));
      else expect(() => rowOf(file, bits)).toThrow("tensor x holds a number that is not finite");
    }
    const known = { 15360: 1, 49152: -2, 1: 2 ** -24, 33791: -1023 * 2 ** -24, 31743: 65_504 };
    for (const [bits, value] of Object.entries(known))
      expect((rowOf(file, Number(bits))[0] as number) * HALF_UNIT).toBe(value);
  });

  it.each(BLOCKS)("behavior: %s, random bytes", (format) => {
    const rng = createRng(FORMATS[format][2]);
    const length = FORMATS[format][1];
    for (let i = 0; i < FILES; i++) {
      const [rows, blocks] = [rng.int(1, 4), rng.int(1, 4)];
      const bytes = anyBytes(rng, format, rows * blocks);
      const file = ofOne({ dims: [rows, blocks * length], format, bytes });
      const expected = unitsOf(format, bytes);
      const found = Array.from({ length: rows }, (_, row) => rowOf(file, row)).flat();
      expect(found.map(BigInt)).toEqual(expected);
    }
  });

  it.each(["Q4_0", "Q4_1", "Q8_0"] as const)(
    "behavior: %s, a random tensor means what its writer says",
    (format) => {
      const made = randomTensor(createRng(5), format, [4, 64], 0.3);
      const file = ofOne(made);
      const found = [0, 1, 2, 3].flatMap((row) => rowOf(file, row));
      expect(found.map((x) => x * HALF_UNIT)).toEqual(Array.from(made.values));
    },
  );

  it.each<[FormatName, number, number, string]>([
    ["Q8_0", 1, 0x7c, "infinite"],
    ["Q8_0", 1, 0xfe, "not a number"],
    ["Q4_0", 1, 0xfc, "infinite"],
    ["Q4_1", 1, 0x7d, "not a number"],
    ["Q4_1", 3, 0x7c, "infinite, in the place of the least number"],
  ])("error: %s whose byte %i is %i: a scale that is %s", (format, at, byte) => {
    const bytes = new Uint8Array(2 * FORMATS[format][2]);
    bytes[FORMATS[format][2] + at] = byte;
    const file = ofOne({ dims: [2, 32], format, bytes });
    expect(rowOf(file, 0).every((x) => x === 0)).toBe(true);
    expect(() => rowOf(file, 1)).toThrow(expect.objectContaining({ code: "GGUF_INVALID" }));
  });
});

describe("reals", () => {
  it("default: float32 as it is; errors: what is no number, another format", () => {
    const numbers = Float32Array.of(0.1, -0, 2 ** -149, 3.4e38);
    const tensor = { dims: [4], format: "F32", bytes: new Uint8Array(numbers.buffer) } as const;
    const file = ofOne(tensor);
    expect(reals(file, tensorIn(file))).toEqual(numbers);
    expect(() => rowOf(file, 0)).toThrow("tensor x is F32");
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const bytes = new Uint8Array(Float32Array.of(1, 2, wrong, 4).buffer);
      const other = ofOne({ ...tensor, bytes });
      expect(() => reals(other, tensorIn(other))).toThrow("tensor x holds a number that is not finite");
    }
    const half = ofOne({ dims: [4], format: "F16", bytes: new Uint8Array(8) });
    expect(() => reals(half, tensorIn(half))).toThrow("tensor x is F16, F32 is needed there");
  });
});

describe("readGguf", () => {
  const entries: readonly (readonly [entry: Entry, value: unknown])[] = [
    [["u8", 200], 200],
    [["i8", -100], -100],
    [["u16", 60_000], 60_000],
    [["i16", -30_000], -30_000],
    [["u32", 2 ** 32 - 1], 2 ** 32 - 1],
    [["i32", -(2 ** 31)], -(2 ** 31)],
    [["f32", 1.5], 1.5],
    [["f32", 1e-5], Math.fround(1e-5)],
    [["bool", true], true],
    [["bool", false], false],
    [["string", "Grüße, 世界"], "Grüße, 世界"],
    [["string", ""], ""],
    [["u64", 2n ** 64n - 1n], 2n ** 64n - 1n],
    [["i64", -(2n ** 63n)], -(2n ** 63n)],
    [["f64", 1e-300], 1e-300],
    [
      ["array", "string", ["a", "", "Ġthe"]],
      ["a", "", "Ġthe"],
    ],
    [
      ["array", "i32", [-1, 0, 7]],
      [-1, 0, 7],
    ],
    [
      ["array", "bool", [true, false]],
      [true, false],
    ],
    [["array", "f64", []], []],
    [["array", "u64", [5n]], [5n]],
  ];

  it("default: metadata of every type, alone and all together", () => {
    for (const [entry, value] of entries) {
      const { metadata } = readGguf(ggufFile({ metadata: { "some.key": entry } }));
      expect([...metadata]).toEqual([["some.key", value]]);
    }
    const all = ggufFile({ metadata: Object.fromEntries(entries.map(([entry], i) => [`key ${i}`, entry])) });
    // A part of a larger memory, at an odd place in it.
    const { metadata } = readGguf(concatBytes(Uint8Array.of(7), all, Uint8Array.of(7)).subarray(1, -1));
    expect([...metadata]).toEqual(entries.map(([, value], i) => [`key ${i}`, value]));
  });

  it.each([undefined, 8, 32, 64, 4_096])("behavior: tensors at any offset, alignment %s", (alignment) => {
    const rng = createRng(alignment ?? 0);
    for (let i = 0; i < FILES / 4; i++) {
      const tensors = Array.from({ length: rng.int(1, 5) }, (_, n) => {
        const format = rng.pick(BLOCKS);
        const dims = [...(rng.chance(0.3) ? [rng.int(1, 3)] : []), rng.int(1, 4), rng.int(1, 3) * 32];
        const blocks = dims.reduce((product, dim) => product * dim, 1) / FORMATS[format][1];
        return [`t${n}`, { dims, format, bytes: anyBytes(rng, format, blocks) }] as const;
      });
      const key: Readonly<Record<string, Entry>> =
        alignment === undefined ? {} : { "general.alignment": ["u32", alignment] };
      const metadata = { ...key, filler: ["string", "x".repeat(rng.int(0, 70))] as const };
      const parts = { metadata, tensors, ...(alignment === undefined ? {} : { alignment }) };
      const file = readGguf(ggufFile(parts));
      let at = Math.ceil(ggufHead(parts).length / (alignment ?? 32)) * (alignment ?? 32);
      for (const [name, { dims, format, bytes }] of tensors) {
        expect(tensorIn(file, name)).toEqual({ name, dims, type: format, offset: at });
        at += Math.ceil(bytes.length / (alignment ?? 32)) * (alignment ?? 32);
        const expected = unitsOf(format, bytes);
        const length = dims.at(-1) as number;
        const row = rng.int(0, expected.length / length - 1);
        expect(rowOf(file, row, name).map(BigInt)).toEqual(expected.slice(row * length, (row + 1) * length));
      }
    }
  });
});
