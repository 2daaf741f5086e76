/** Accumulators of rows of which some are alike: each row's bounds by their definition. */
import { expect, it } from "vitest";
import type { StepRanges } from "../../../inference/profile/context.ts";
import { accumulators } from "../../../inference/profile/dot.ts";
import { packDot } from "../../../inference/program/weights.ts";
import { createRng } from "../../support/rng.ts";

const PARAMETERS = { multiplier: 0, addend: 0n, shift: 0, scaleBits: 0, zeroPoint: 0, lower: 0, upper: 0 };

it("behavior: rows that differ in one bound of one element have bounds of their own", () => {
  const rng = createRng(1);
  for (let round = 0; round < 300; round++) {
    const [rows, k, n] = [rng.int(2, 6), rng.int(1, 40), rng.int(1, 5)];
    const groups = rng.chance(0.5) ? 1 : n;
    const length = groups * k;
    const low = new Float64Array(rows * length);
    const high = new Float64Array(rows * length).fill(255);
    for (let row = 1; row < rows; row++) {
      low.copyWithin(row * length, (row - 1) * length, row * length);
      high.copyWithin(row * length, (row - 1) * length, row * length);
      const at = row * length + rng.int(0, length - 1);
      const change = rng.int(0, 2);
      if (change === 1) low[at] = rng.int(0, 100);
      if (change === 2) high[at] = rng.int(101, 255);
    }
    const bytes = rng.bytes(n * k);
    const channel = { ...PARAMETERS, bias: rng.int(-999, 999), weightOffset: 128 };
    const weights = {
      descriptor: { layout: "dot", type: "u8", dims: [n, k] },
      bytes: packDot(bytes, k, Array(n).fill(channel)),
    } as const;
    const input = { type: "u8", dims: [rows * groups, k], range: { low, high, tiny: 1 } };
    const step = { opcode: "dot", variant: 0, dims: [rows, n], k: groups };
    const found = accumulators({ step, operand: () => input } as unknown as StepRanges, weights);
    for (let i = 0; i < rows * n; i++) {
      const [row, column] = [Math.floor(i / n), i % n];
      const from = (row * groups + Math.floor((column * groups) / n)) * k;
      let [least, most] = [channel.bias, channel.bias];
      for (let j = 0; j < k; j++) {
        const w = (bytes[column * k + j] as number) - 128;
        const ends = [w * (low[from + j] as number), w * (high[from + j] as number)];
        least += Math.min(...ends);
        most += Math.max(...ends);
      }
      expect([found.low[i], found.high[i]]).toEqual([least, most]);
    }
  }
});
