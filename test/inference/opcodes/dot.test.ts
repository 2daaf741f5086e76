/** DOT of many rows, which are multiplied together, against the kernel of one row in plain JavaScript. */
import { expect, test } from "vitest";
import { dot, dotForm } from "../../../inference/opcodes/dot.ts";
import { MOST_TOGETHER, plainProducts } from "../../../inference/opcodes/products.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import { NONE, type Step } from "../../../inference/program/form.ts";
import { packDot } from "../../../inference/program/weights.ts";
import { createRng } from "../../support/rng.ts";

const VARIANTS = [
  ["s32", "s32"],
  ["integer", "u8"],
  ["integer", "s8"],
  ["binary32", "u8"],
  ["planes", "s32"],
] as const;

/** Numbers of rows around those that are multiplied together. */
const ROWS = [1, 2, MOST_TOGETHER - 1, MOST_TOGETHER, MOST_TOGETHER + 1, 2 * MOST_TOGETHER + 3];

test.each(VARIANTS)("behavior: rows together are rows one by one, %s to %s", (variant, type) => {
  const rng = createRng(17);
  for (const rows of ROWS) {
    for (const groups of [1, 3]) {
      const [k, perGroup] = [rng.int(1, 70), rng.int(1, 9)];
      const n = groups * perGroup;
      const length = variant === "planes" ? 2 * k : k;
      const bytes = rng.bytes(n * k);
      const channels = Array.from({ length: n }, () => ({
        ...{ bias: rng.int(-9_999, 9_999), multiplier: rng.int(1, 2 ** 20), addend: 1n << 23n, shift: 24 },
        // 2^-10 as binary32
        ...{ scaleBits: 0x3a800000, zeroPoint: 7, lower: 0, upper: 255, weightOffset: rng.int(0, 255) },
      }));
      const weights = { type: "u8", dims: [n, k], words: packDot(bytes, k, channels) } as const;
      const kernelOf = (form: typeof dot, count: number) => {
        const step: Step = {
          ...{ opcode: "dot", variant: variantCode("dot", variant), type, dims: [count, n] },
          ...{ a: 0, b: 1, c: NONE, k: groups, coordinates: [] },
        };
        return form.prepare(step, [{ type: "u8", dims: [count * groups, length] }, weights]);
      };
      const [together, one] = [kernelOf(dot, rows), kernelOf(dotForm(plainProducts), 1)];
      const a = rng.bytes(rows * groups * length);
      const [out, expected] = [0, 1].map(() =>
        type === "s32" ? new Int32Array(rows * n) : new Uint8Array(rows * n),
      ) as [Int32Array | Uint8Array, Int32Array | Uint8Array];
      together(out, a, undefined, undefined);
      for (let row = 0; row < rows; row++) {
        const input = a.subarray(row * groups * length, (row + 1) * groups * length);
        one(expected.subarray(row * n, (row + 1) * n), input, undefined, undefined);
      }
      expect([...out], JSON.stringify({ rows, groups, k, n })).toEqual([...expected]);
    }
  }
});
