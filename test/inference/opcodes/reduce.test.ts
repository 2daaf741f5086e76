/** Rows as long as REDUCE takes them: random programs have few of those. */
import { expect, it } from "vitest";
import { step } from "../../../conformance/generate/small-programs.ts";
import { reduce } from "../../../inference/opcodes/reduce.ts";
import { variantCode } from "../../../inference/program/codes.ts";

const LENGTHS = [256, 257, 1_023, 1_024];
const ROWS = 2;

it.each(LENGTHS)("behavior: of %i elements each one counts", (length) => {
  const dims = [ROWS, length];
  for (const [name, other, most] of [
    ["sum", 1, 1],
    ["min", -9, -9],
    ["max", 9, 9],
  ] as const) {
    const operand = { type: "s32", dims } as const;
    const fields = { variant: variantCode("reduce", name), type: "s32", dims: [ROWS] } as const;
    const kernel = reduce.prepare(step({ opcode: "reduce", a: 0, ...fields }), [operand]);
    for (let at = 0; at < length; at++) {
      const data = new Int32Array(ROWS * length);
      data[length + at] = other;
      const out = new Int32Array(ROWS);
      kernel(out, data, undefined, undefined);
      expect([...out]).toEqual([0, most]);
    }
  }
});
