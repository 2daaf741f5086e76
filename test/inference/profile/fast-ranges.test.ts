/** Intervals that are computed once for operands which are alike: each element's bounds by their definition. */
import { expect, it } from "vitest";
import type { StepRanges } from "../../../inference/profile/context.ts";
import { dotRange } from "../../../inference/profile/dot.ts";
import type { Range } from "../../../inference/profile/range.ts";
import { tableRange } from "../../../inference/profile/table.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const ROUNDS = 300;

/** Rows of intervals of which many are the row before, or that but for one bound. */
function alikeRows(rng: Rng, rows: number, k: number, [least, most]: readonly [number, number]): Range {
  const low = new Float64Array(rows * k);
  const high = new Float64Array(rows * k);
  const interval = (at: number) => {
    [low[at], high[at]] = [rng.int(least, most), rng.int(least, most)].sort((a, b) => a - b) as [
      number,
      number,
    ];
  };
  for (let row = 0; row < rows; row++) {
    if (row === 0 || rng.chance(0.2)) for (let i = 0; i < k; i++) interval(row * k + i);
    else for (const ends of [low, high]) ends.copyWithin(row * k, (row - 1) * k, row * k);
    if (rng.chance(0.3)) interval(row * k + rng.int(0, k - 1));
  }
  return { low, high, tiny: 1 };
}

it("behavior: products of rows that are alike, within a matrix and in the next one", () => {
  const rng = createRng(2);
  for (let round = 0; round < ROUNDS; round++) {
    const [matrices, share, n, k] = [rng.int(1, 4), rng.int(1, 4), rng.int(1, 4), rng.int(1, 9)];
    const a = alikeRows(rng, matrices * share, k, [-128, 127]);
    const b = alikeRows(rng, matrices * n, k, [0, 255]);
    const operands = {
      a: { type: "s8", dims: [matrices * share, k], range: a },
      b: { type: "u8", dims: [matrices * n, k], range: b },
    } as const;
    const variant = variantCode("dot", "activations");
    const step = { opcode: "dot", variant, type: "s32", dims: [matrices, share, n], k: share };
    const ctx = { step, operand: (name: "a" | "b") => operands[name], within: (range: Range) => range };
    const found = dotRange(ctx as unknown as StepRanges);
    if (matrices * share * k === 1 || matrices * n * k === 1 || matrices * share * n === 1) continue;
    for (let element = 0; element < matrices * share * n; element++) {
      const row = Math.floor(element / n);
      const other = Math.floor(row / share) * n + (element % n);
      let [least, most] = [0, 0];
      for (let i = 0; i < k; i++) {
        const [x, y] = [row * k + i, other * k + i];
        const ends = [a.low, a.high].flatMap((p) =>
          [b.low, b.high].map((q) => (p[x] as number) * (q[y] as number)),
        );
        least += Math.min(...ends);
        most += Math.max(...ends);
      }
      expect([found.low[element], found.high[element]], `round ${round}, ${element}`).toEqual([least, most]);
    }
  }
});

it.each(["u8", "s8"] as const)("behavior: a table's entries between the ends of %s", (type) => {
  const rng = createRng(3);
  const [offset, ends] = type === "s8" ? [128, [-128, 127] as const] : [0, [0, 255] as const];
  for (let round = 0; round < ROUNDS; round++) {
    const [rows, k] = [rng.int(1, 6), rng.int(2, 9)];
    const range = alikeRows(rng, rows, k, ends);
    const bytes = rng.bytes(256);
    const step = { opcode: "table", variant: 0, type: "u8", dims: [rows, k] };
    const ctx = {
      step,
      operand: () => ({ type, dims: [rows, k], range }),
      weight: () => ({ bytes }),
      areNumbers: () => true,
    };
    const found = tableRange(ctx as unknown as StepRanges);
    for (let i = 0; i < rows * k; i++) {
      const entries = bytes.subarray(
        (range.low[i] as number) + offset,
        (range.high[i] as number) + offset + 1,
      );
      expect([found.low[i], found.high[i]]).toEqual([Math.min(...entries), Math.max(...entries)]);
    }
  }
});
