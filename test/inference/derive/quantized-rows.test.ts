/** Rows of signed bytes against fractions of big integers, and what is cut and chosen from them against the formulas of
 *  its indices. */
import { describe, expect, it } from "vitest";
import { type GgufTensor, readGguf } from "../../../inference/derive/gguf.ts";
import {
  chosenRows,
  cutRows,
  joinedRows,
  type QuantizedRows,
  quantizedRows,
  rowsBetween,
  withSigns,
} from "../../../inference/derive/quantized-rows.ts";
import { type FileTensor, FORMATS, ggufFile, halfBits, randomTensor } from "../../support/gguf-file.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const TENSORS = scaled(40, 1_000);
const NEAR = scaled(400, 20_000);

function quantized(tensor: FileTensor): QuantizedRows {
  const file = readGguf(ggufFile({ tensors: [["x", tensor]] }));
  return quantizedRows(file, file.tensors.get("x") as GgufTensor);
}

const size = (x: bigint) => (x < 0n ? -x : x);
/** `round(127 · w / most)`, ties away from zero: the only k with `|w|·127/most − 1/2 < |k| <= |w|·127/most + 1/2`. */
function rounded(w: bigint, most: bigint): number {
  for (let k = 0n; k <= 127n; k++) {
    const twice = 2n * 127n * size(w);
    if (twice < (2n * k + 1n) * most) return Number(w < 0n ? -k : k);
  }
  return Number(w < 0n ? -127n : 127n);
}

function expectRow(values: ArrayLike<number>, row: readonly bigint[], scale: number | undefined): void {
  const most = row.map(size).sort((a, b) => Number(b - a))[0] ?? 0n;
  expect(Array.from(values)).toEqual(row.map((w) => (most === 0n ? 0 : rounded(w, most) + 0)));
  // Of the row's unit: in binary64 a quotient is off by 2^-53 of it at most.
  const right = most === 0n ? 1 : Number(most) / 127 / 2 ** 24;
  expect(Math.abs((scale as number) / right - 1)).toBeLessThan(2 ** -51);
}

/** Numbers of 16-bit floating point. */
const halves = (rows: readonly (readonly number[])[]): FileTensor => {
  const bits = Uint16Array.from(rows.flat(), halfBits);
  return { dims: [rows.length, rows[0]?.length ?? 0], format: "F16", bytes: new Uint8Array(bits.buffer) };
};
const units = (x: number): bigint => BigInt(x * 2 ** 24);

describe("quantizedRows", () => {
  it.each(["F16", "Q4_0", "Q4_1", "Q8_0"] as const)("behavior: random rows of %s", (format) => {
    const rng = createRng(FORMATS[format][2]);
    for (let i = 0; i < TENSORS; i++) {
      const [rows, length] = [rng.int(1, 5), rng.int(1, 4) * 32];
      const tensor = randomTensor(rng, format, [rows, length], rng.pick([2 ** -6, 0.3, 1, 900]));
      const { values, scales, ...rest } = quantized(tensor);
      expect(rest).toEqual({ length });
      for (let n = 0; n < rows; n++) {
        const [from, to] = [n * length, (n + 1) * length];
        const row = Array.from(tensor.values.subarray(from, to), units);
        expectRow(values.subarray(from, to), row, scales[n]);
      }
    }
  });

  it("default: ties go away from zero, rows of zeros have the least unit of the others", () => {
    // 254 is the largest, so that each odd number is a tie.
    const { values, scales } = quantized(
      halves([[254, 253, -253, 1, -1, 2, 3, -5, 0, -254], new Array(10).fill(0)]),
    );
    expect(Array.from(values)).toEqual([127, 127, -127, 1, -1, 1, 2, -3, 0, -127, ...new Array(10).fill(0)]);
    expect(Array.from(scales)).toEqual([2, 2]);
  });

  it("behavior: what is nearly a tie goes where it is nearer to", () => {
    const rng = createRng(4);
    let near = 0;
    for (let i = 0; i < NEAR; i++) {
      // Both are whole numbers of 2^-24; Q4_1 adds two numbers of 11 bits, so that w can be one of 22.
      const most = rng.int(1_024, 2_047) * 2 ** rng.int(6, 11);
      const k = rng.int(0, 126);
      const tie = Math.floor(((2 * k + 1) * most) / 254);
      const w = tie + rng.int(-1, 1);
      if (w >= most || w < 2 ** 17) continue;
      const high = Math.floor(w / 2 ** 11) * 2 ** 11;
      const low = w - high;
      const sign = rng.pick([1, -1]);
      // Of the first block 0 is the least number, 1 times the scale the largest; of the second it is w without its last bits.
      const bytes = new Uint8Array(40);
      const view = new DataView(bytes.buffer);
      const half = (at: number, x: number) => view.setUint16(at, halfBitsOf(x), true);
      half(0, sign * most);
      bytes[4] = 1;
      half(20, sign * high);
      half(22, sign * low);
      bytes[24] = 1;
      const row = new Array<number>(64).fill(0);
      row[0] = sign * most;
      row.fill(sign * low, 32);
      row[32] = sign * (high + low);
      const { values, scales } = quantized({ dims: [1, 64], format: "Q4_1", bytes });
      expectRow(values, row.map(BigInt), scales[0]);
      near += 1;
    }
    expect(near).toBeGreaterThan(NEAR / 2);
  });

  it("default: the largest numbers of F16 and of blocks that still are exact, error: larger ones", () => {
    expect(quantized(halves([[65_504, -65_504, 32_752]])).values).toEqual(Int8Array.of(127, -127, 64));
    const ofScale = (bits: number): FileTensor => {
      const bytes = new Uint8Array(34).fill(127);
      new DataView(bytes.buffer).setUint16(0, bits, true);
      return { dims: [1, 32], format: "Q8_0", bytes };
    };
    // 127 · 8,192 is under 2^20, 127 · 65,504 is not.
    expect(quantized(ofScale(halfBits(8_192))).values).toEqual(new Int8Array(32).fill(127));
    expect(() => quantized(ofScale(halfBits(65_504)))).toThrow(
      expect.objectContaining({
        code: "GGUF_INVALID",
        shortMessage:
          "The GGUF file cannot be read: row 0 of tensor x holds 8319008, at most 1048576 is quantized.",
      }),
    );
  });
});

/** The bits of a whole number of 2^-24 that has 11 of them at most: no fraction is below those of the smallest. */
const halfBitsOf = (x: number): number => {
  const below = Math.abs(x);
  return below < 1_024 ? below + (x < 0 ? 0x8000 : 0) : halfBits(x * 2 ** -24);
};

function randomRows(rng: Rng, rows: number, length: number): QuantizedRows {
  const values = Int8Array.from({ length: rows * length }, () => rng.int(-127, 127));
  return { length, values, scales: Float64Array.from({ length: rows }, () => rng.int(1, 999)) };
}
const at = ({ length, values }: QuantizedRows, row: number, column: number) => values[row * length + column];

describe("rows", () => {
  const rng = createRng(9);
  const cases = Array.from({ length: TENSORS }, () => {
    const parts = rng.int(1, 4);
    return { parts, rows: randomRows(rng, rng.int(1, 6), parts * rng.int(1, 5)) };
  });
  /** Element by element, what a formula says. */
  const expectRows = (
    found: QuantizedRows,
    [rows, length]: readonly [number, number],
    value: (row: number, column: number) => number | undefined,
    scale: (row: number) => number | undefined,
  ): void => {
    expect(found.length).toBe(length);
    const places = Array.from(
      { length: rows * length },
      (_, i) => [Math.floor(i / length), i % length] as const,
    );
    expect(Array.from(found.values)).toEqual(
      places.map(([row, column]) => (value(row, column) as number) + 0),
    );
    expect(Array.from(found.scales)).toEqual(Array.from({ length: rows }, (_, row) => scale(row)));
  };

  it("behavior: cutRows: the first part of each row, then the second", () => {
    for (const { parts, rows } of cases) {
      const [count, length] = [rows.scales.length, rows.length / parts];
      expectRows(
        cutRows(rows, parts),
        [parts * count, length],
        (row, column) => at(rows, row % count, Math.floor(row / count) * length + column),
        (row) => rows.scales[row % count],
      );
    }
  });

  it("behavior: joinedRows: one after another", () => {
    for (const { rows } of cases) {
      const others = Array.from({ length: rng.int(0, 2) }, () => randomRows(rng, rng.int(1, 4), rows.length));
      const all = [rows, ...others].flatMap((each) => Array.from(each.scales, (_, row) => ({ each, row })));
      expectRows(
        joinedRows([rows, ...others]),
        [all.length, rows.length],
        (row, column) => at(all[row]?.each as QuantizedRows, all[row]?.row as number, column),
        (row) => all[row]?.each.scales[all[row]?.row as number],
      );
    }
  });

  it("behavior: chosenRows, withSigns and rowsBetween", () => {
    for (const { rows } of cases) {
      const count = rows.scales.length;
      const choices = Array.from({ length: rng.int(1, 8) }, () => rng.int(0, count - 1));
      const signs = Array.from({ length: rows.length }, () => rng.pick([1, -1] as const));
      const before = rows.values.slice();
      expectRows(
        chosenRows(rows, choices),
        [choices.length, rows.length],
        (row, column) => at(rows, choices[row] as number, column),
        (row) => rows.scales[choices[row] as number],
      );
      expectRows(
        withSigns(rows, signs),
        [count, rows.length],
        (row, column) => (signs[column] as number) * (at(rows, row, column) as number),
        (row) => rows.scales[row],
      );
      const from = rng.int(0, count - 1);
      const to = rng.int(from, count);
      expectRows(
        rowsBetween(rows, from, to),
        [to - from, rows.length],
        (row, column) => at(rows, from + row, column),
        (row) => rows.scales[from + row],
      );
      expect(rows.values).toEqual(before);
    }
  });
});
