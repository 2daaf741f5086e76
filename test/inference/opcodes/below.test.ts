import { describe, expect, test } from "vitest";
import { lookup } from "../../../inference/opcodes/lookup.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import {
  elementBytes,
  elementCount,
  judgeVersionOf,
  lastDim,
  NONE,
  type Program,
  type Step,
  type TensorType,
  whyNotExecuted,
} from "../../../inference/program/form.ts";
import { fromStoredBytes, newData, storedBytes } from "../../../inference/program/tensor.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const TYPES = ["u8", "s8", "s32", "f32", "bool"] as const;
/** The last two have more than WebAssembly's memory. */
const TABLES = [1, 2, 31, 300, 65_536, 65_537, 320_000];
const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];

const stepOf = (type: TensorType, dims: readonly number[], c = NONE): Step => ({
  ...{ opcode: "lookup", variant: variantCode("lookup", "below"), type, dims },
  ...{ a: 0, b: 0x8000, c, k: 0, coordinates: [] },
});

/** Numbers of a and where its elements count, for each of the output's. */
interface Case {
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly numbers: Int32Array;
  /** stored bytes by entry */
  readonly entries: readonly string[];
  readonly mask?: { readonly dims: readonly number[]; readonly data: Uint8Array };
}

/** The element of the mask at an index of the output, axis by axis. */
function countsAt({ dims, mask }: Case, element: number): boolean {
  if (mask === undefined) return true;
  let [rest, at, stride] = [element, 0, 1];
  for (let back = 1; back <= mask.dims.length; back++) {
    const [whole, own] = [dims.at(-back) as number, mask.dims.at(-back) as number];
    at += own === 1 ? 0 : (rest % whole) * stride;
    stride *= own;
    rest = Math.floor(rest / whole);
  }
  return mask.data[at] !== 0;
}

/** The text of docs/EXACT.md, element by element. @returns the entry's id; undefined: the place does not count */
function entryOf(given: Case, element: number): number | undefined {
  if (!countsAt(given, element)) return undefined;
  const length = lastDim(given.dims);
  const first = element - (element % length);
  const counted = Array.from({ length }, (_, i) => first + i).filter((i) => countsAt(given, i));
  const own = given.numbers[element] as number;
  const distances = counted.map((i) => (given.numbers[i] as number) - own);
  return Math.min(Math.max(...distances), given.entries.length - 1);
}

const idsOf = (given: Case) => Array.from(given.numbers, (_, element) => entryOf(given, element));

/** What is to be stored, in hex digits. */
function storedOf({ type, entries }: Case, ids: readonly (number | undefined)[]): string {
  const zero = type === "s8" ? "80" : "00".repeat(elementBytes(type));
  return ids.map((id) => (id === undefined ? zero : entries[id])).join("");
}

const randomEntries = (rng: Rng, type: TensorType, v: number): string[] =>
  Array.from({ length: v }, () => Buffer.from(rng.bytes(elementBytes(type))).toString("hex"));

function randomCase(rng: Rng, type: TensorType, v: number): Case {
  const outer = Array.from({ length: rng.int(0, 4) }, () => rng.int(1, 3));
  const lengths = [1, 2, rng.int(3, 40), rng.int(30, 70), rng.int(64, 200)];
  const dims = rng.chance(0.05) ? [1_024] : [...outer, rng.pick(lengths)];
  const isFar = rng.chance(0.3);
  const numbers = Int32Array.from({ length: elementCount(dims) }, () =>
    isFar ? rng.pick([LEAST, LEAST + 1, -1, 0, MOST]) : rng.int(-v, Math.floor(v / 2)),
  );
  const entries = randomEntries(rng, type, v);
  if (rng.chance(0.25)) return { type, dims, numbers, entries };
  const first = dims.slice(0, -1);
  const kept = first.slice(rng.int(0, first.length)).map((dim) => (rng.chance(0.4) ? 1 : dim));
  const maskDims = [...kept, lastDim(dims)];
  const share = rng.pick([0, 0.1, 0.5, 1]);
  const data = Uint8Array.from({ length: elementCount(maskDims) }, () =>
    rng.chance(share) ? rng.pick([1, 2, 128, 255]) : 0,
  );
  return { type, dims, numbers, entries, mask: { dims: maskDims, data } };
}

const operandsOf = ({ type, dims, entries, mask }: Omit<Case, "numbers">) => [
  { type: "s32" as const, dims },
  {
    ...{ type, dims: [entries.length, 1] },
    constant: fromStoredBytes(type, Buffer.from(entries.join(""), "hex")),
  },
  mask && { type: "bool" as const, dims: mask.dims },
];

describe("LOOKUP below", () => {
  test("behavior: the kernel equals the definition over types, tables, shapes, masks and numbers", () => {
    const rng = createRng(31);
    let [silent, far] = [0, 0];
    for (const type of TYPES)
      for (const v of TABLES)
        for (let round = 0; round < (v > 1_000 ? 3 : 25); round++) {
          const given = randomCase(rng, type, v);
          const { dims, numbers, mask } = given;
          const ids = idsOf(given);
          silent += ids.filter((id) => id === undefined).length;
          far += ids.filter((id) => id === v - 1).length;
          const expected = storedOf(given, ids);
          const kernel = lookup.prepare(stepOf(type, dims, mask && 1), operandsOf(given));
          const size = elementBytes(type);
          const before = rng.bytes(size * numbers.length);
          const run = (from?: number, to?: number): string => {
            const out = fromStoredBytes(type, before);
            kernel(out, numbers, undefined, mask?.data, from, to);
            return Buffer.from(storedBytes(out)).toString("hex");
          };
          expect(run(), `${type} ${v} ${dims}`).toBe(expected);
          // Some rows, beside neighbours that it leaves alone.
          const row = lastDim(dims);
          const rows = numbers.length / row;
          const from = row * rng.int(0, rows - 1);
          const to = from + row * rng.int(1, rows - from / row);
          const left = Buffer.from(before).toString("hex");
          const digits = 2 * size;
          expect(run(from, to)).toBe(
            left.slice(0, from * digits) +
              expected.slice(from * digits, to * digits) +
              left.slice(to * digits),
          );
        }
    expect(silent).toBeGreaterThan(5_000);
    expect(far).toBeGreaterThan(5_000);
  });

  test("behavior: kernels of several tables in turn, whose rows are looked up in one memory", () => {
    const rng = createRng(7);
    const kernels = [...TYPES, ...TYPES].map((type) => {
      const dims = [rng.int(1, 3), rng.int(64, 300)];
      const entries = randomEntries(rng, type, rng.pick([40, 300, 5_000]));
      const data = Uint8Array.from({ length: lastDim(dims) }, () => rng.int(0, 1));
      const given = { type, dims, entries, mask: { dims: [lastDim(dims)], data } };
      const kernel = lookup.prepare(stepOf(type, dims, 1), operandsOf(given));
      return { given, kernel };
    });
    for (let round = 0; round < 60; round++) {
      const { given, kernel } = rng.pick(kernels);
      const { type, dims, mask } = given;
      const numbers = Int32Array.from({ length: elementCount(dims) }, () => rng.int(-300, 300));
      const expected = { ...given, numbers };
      const out = newData(type, numbers.length);
      kernel(out, numbers, undefined, mask.data);
      const found = Buffer.from(storedBytes(out)).toString("hex");
      expect(found, `round ${round}`).toBe(storedOf(expected, idsOf(expected)));
    }
  });

  test("behavior: the row, the mask's row, and the table's word where the place counts", () => {
    const dims = [2, 3, 40];
    const numbers = new Int32Array(240);
    const counts = new Uint8Array(80).fill(1);
    // Row 4 of the output has the mask's row 1, in which the largest number does not count.
    numbers.set([100, 7, 3, -300], 160);
    counts[40] = 0;
    const shapes = new Map([
      [0, { type: "s32" as const, dims }],
      [1, { type: "bool" as const, dims: [2, 1, 40] }],
    ]);
    const source = {
      shape: (operand: number) => shapes.get(operand) as { type: TensorType; dims: readonly number[] },
      weights: () => ({ layout: "plain", type: "u8", dims: [50, 1] }) as const,
      data: (operand: number) => (operand === 0 ? numbers : counts),
    };
    const [row, mask] = [
      { operand: 0, row: 4 },
      { operand: 1, row: 1 },
    ];
    const entry = (id: number) => ({ operand: 0x8000, row: id, word: 0 });
    const reads = (element: number) => lookup.reads(stepOf("u8", dims, 1), element, source);
    expect([160, 161, 162, 163].map(reads)).toEqual([
      [row, mask],
      [row, mask, entry(0)],
      [row, mask, entry(4)],
      [row, mask, entry(49)],
    ]);
    expect(lookup.reads(stepOf("u8", dims), 161, source)).toEqual([row, entry(49)]);
  });

  test("behavior: a program that has it needs judge version 2, and no interpreter runs it", () => {
    const program = { steps: [stepOf("u8", [1])] } as unknown as Program;
    expect(judgeVersionOf(program)).toBe(2);
    expect(whyNotExecuted(program)).toBe("step 0 is LOOKUP below, which no interpreter runs");
  });
});
