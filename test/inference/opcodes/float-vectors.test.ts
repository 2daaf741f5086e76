import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fromHex, viewOf } from "../../../base/bytes.ts";
import { float } from "../../../inference/opcodes/float.ts";
import { FLOAT_VARIANTS, type Step, type TensorType } from "../../../inference/program/form.ts";
import { bitsOf, newData } from "../../../inference/program/tensor.ts";
import { projectRoot } from "../../../tools/foundry.ts";
import type { FloatVectors } from "../../../tools/make-float-vectors.ts";

const vectors: FloatVectors = JSON.parse(
  readFileSync(join(projectRoot, "test/vectors/binary32.json"), "utf8"),
);

/** Every `stride`-th word of hexadecimal text. */
function readWords(text: string, stride: number, first: number): Int32Array {
  const view = viewOf(fromHex(text));
  return Int32Array.from({ length: vectors.count }, (_, i) => view.getInt32(4 * (stride * i + first)));
}

const OUTPUT_TYPES: Readonly<Record<string, TensorType>> = {
  lt: "bool",
  le: "bool",
  eq: "bool",
  toint: "s32",
  quant: "u8",
};
const INTEGER_OPERAND = ["tofloat", "dequant"];

describe("float", () => {
  test.each(FLOAT_VARIANTS)("behavior: %s gives what the judge is tested against", (name) => {
    const dims = [vectors.count];
    const types: readonly TensorType[] = [INTEGER_OPERAND.includes(name) ? "s32" : "f32", "f32", "s32"];
    const operands = types.map((type, i) => {
      const words = readWords(vectors.operands, 3, i);
      return { type, dims, data: type === "f32" ? new Float32Array(words.buffer) : words };
    });
    const step: Step = {
      opcode: "float",
      variant: FLOAT_VARIANTS.indexOf(name),
      type: OUTPUT_TYPES[name] ?? "f32",
      dims,
      a: 0,
      b: 1,
      c: 2,
      k: 0,
      coordinates: [],
    };
    const out = newData(step.type, vectors.count);
    const [a, b, c] = operands.map(({ data }) => data);
    float.prepare(step, operands)(out, a, b, c);
    const found = step.type === "f32" ? bitsOf(out) : Int32Array.from(out as ArrayLike<number>);
    const expected = readWords(vectors.results[name] as string, 1, 0);
    const wrong = expected.reduce((sum, bits, i) => sum + Number(bits !== found[i]), 0);
    expect(wrong).toBe(0);
  });
});
