/** Functions of one byte against their definitions in binary64: whole ranges, tails alone, and the neighbourhood of 0. */
import { describe, expect, it } from "vitest";
import { calibrated, largestOf, type Measured, measure, printed } from "../../support/one-unit.ts";
import { BYTE_FUNCTIONS, type ByteFunction } from "../../support/references/functions.ts";

const f32 = Math.fround;
const WIDTH = 32;
const bytesFrom = (least: number): number[] => Array.from({ length: WIDTH }, (_, i) => least + i);
/** Rows of bytes: eight cover all of them, one lies around the zero point. */
const rowsAround = (zero: number): number[][] => [
  ...Array.from({ length: 8 }, (_, i) => bytesFrom(WIDTH * i)),
  bytesFrom(Math.min(Math.max(zero - WIDTH / 2, 0), 256 - WIDTH)),
];
/** Scale and zero point: the usual range, both sides far out, one side alone, a narrow range. */
const INPUTS = [
  [f32(0.04), 128],
  [f32(0.07), 100],
  [f32(0.035), 255],
  [f32(0.035), 0],
  [f32(0.001), 128],
] as const;

function measureFunction({ nodes, constants = {}, f }: ByteFunction): Measured {
  const total: Measured = new Map();
  for (const [scale, zero] of INPUTS) {
    const rows = rowsAround(zero);
    const real = (row: readonly number[]): number[] => row.map((q) => f(f32((q - zero) * scale)));
    const expected = rows.flatMap(real);
    const from = { type: "uint8", scale, zero } as const;
    const graph = { nodes, constants, length: WIDTH, x: rows.flat(), from, expected };
    measure({ ...graph, to: undefined }, total);
    for (const list of [expected, ...rows.map(real)]) {
      for (const type of ["uint8", "int8", "uint16"] as const) {
        measure({ ...graph, to: calibrated(list, type) }, total);
      }
    }
  }
  return total;
}

describe("at most one unit off", () => {
  it.each(Object.entries(BYTE_FUNCTIONS))("behavior: %s of a byte", (name, byteFunction) => {
    const measured = measureFunction(byteFunction);
    process.stdout.write(`${name}: ${printed(measured)}\n`);
    expect(largestOf(measured)).toBeLessThanOrEqual(1);
  });
});
