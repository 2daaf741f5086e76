import { describe, expect, test } from "vitest";
import { dotForm } from "../../../inference/opcodes/dot.ts";
import type { OpcodeForm } from "../../../inference/opcodes/opcode.ts";
import { fastestProducts, plainProducts } from "../../../inference/opcodes/products.ts";
import { simdProducts } from "../../../inference/opcodes/simd-products.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import { judgeVersionOf, NONE, type Program, type Step } from "../../../inference/program/form.ts";
import { validateProgram } from "../../../inference/program/validate.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const TYPES = ["u8", "s8"] as const;
type Byte = (typeof TYPES)[number];

interface Shape {
  readonly matrices: number;
  readonly share: number;
  readonly n: number;
  readonly k: number;
  readonly a: Byte;
  readonly b: Byte;
}

const stepOf = ({ matrices, share, n }: Shape): Step => ({
  opcode: "dot",
  variant: variantCode("dot", "activations"),
  type: "s32",
  dims: [matrices * share, n],
  ...{ a: 0, b: 1, c: NONE, k: share, coordinates: [] },
});

/** The definition, element by element. */
function plain({ matrices, share, n, k, a, b }: Shape, left: Uint8Array, right: Uint8Array): number[] {
  const value = (type: Byte, byte: number): number => (type === "s8" ? byte - 128 : byte);
  return Array.from({ length: matrices * share * n }, (_, element) => {
    const row = Math.floor(element / n);
    const other = Math.floor(row / share) * n + (element % n);
    let sum = 0;
    for (let i = 0; i < k; i++) {
      sum += value(a, left[row * k + i] as number) * value(b, right[other * k + i] as number);
    }
    return sum;
  });
}

function compare(form: OpcodeForm, shape: Shape, rng: Rng): void {
  const { matrices, share, n, k } = shape;
  const operands = [
    { type: shape.a, dims: [matrices * share, k] },
    { type: shape.b, dims: [matrices * n, k] },
  ];
  const kernel = form.prepare(stepOf(shape), operands);
  // Twice by one kernel: nothing of the first run stays.
  for (const fill of [undefined, rng.int(0, 255), 255, 0]) {
    const bytes = (size: number) => (fill === undefined ? rng.bytes(size) : new Uint8Array(size).fill(fill));
    const [left, right] = [bytes(matrices * share * k), bytes(matrices * n * k)];
    const out = new Int32Array(matrices * share * n);
    kernel(out, left, right, undefined);
    expect([...out], JSON.stringify(shape)).toEqual(plain(shape, left, right));
  }
}

const LENGTHS = [1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 992, 1023, 1024];

describe("DOT activations", () => {
  const forms = { plain: dotForm(plainProducts), fastest: dotForm(fastestProducts(simdProducts)) };

  test.each(Object.entries(forms))("behavior: %s products equal the definition over shapes", (_, form) => {
    const rng = createRng(31);
    for (const k of LENGTHS) {
      for (const a of TYPES) {
        for (const b of TYPES) compare(form, { matrices: 2, share: 2, n: 5, k, a, b }, rng);
      }
    }
    for (let i = 0; i < 60; i++) {
      const [matrices, share, n] = [rng.int(1, 4), rng.int(1, rng.pick([5, 40])), rng.int(1, 9)];
      compare(form, { matrices, share, n, k: rng.int(1, 80), a: rng.pick(TYPES), b: rng.pick(TYPES) }, rng);
    }
  });

  const program = (shape: Shape, changed: Partial<Step> = {}): Program => {
    const codec = { opcode: "codec", variant: 4, c: NONE, coordinates: [] } as const;
    const { matrices, share, n, k, a, b } = shape;
    const steps: Step[] = [
      { ...codec, type: a, dims: [matrices * share, k], a: NONE, b: NONE, k: 0 },
      { ...codec, type: b, dims: [matrices * n, k], a: NONE, b: NONE, k: 0 },
      { ...stepOf(shape), ...changed },
    ];
    return { inputCodec: "raw", outputCodec: "raw", inputSize: 8192, weights: [], steps };
  };
  const fieldsOf = (shape: Shape, changed?: Partial<Step>): string[] =>
    validateProgram(program(shape, changed)).map(({ field }) => field);
  const base: Shape = { matrices: 1, share: 2, n: 3, k: 1024, a: "u8", b: "s8" };

  test("args: K of 1,024 is taken, K of 1,025 is refused", () => {
    expect(fieldsOf(base)).toEqual([]);
    expect(fieldsOf({ ...base, k: 1025 })).toEqual(["last dim of operand a"]);
  });

  test("error: k that does not divide the rows, another type, a third operand, too few rows of b", () => {
    expect(fieldsOf(base, { k: 0 })).toEqual(["k (rows a matrix)"]);
    expect(fieldsOf(base, { k: 4 })).toEqual(["k (rows a matrix)"]);
    expect(fieldsOf(base, { k: 1 })).toEqual(["rows of operand b"]);
    expect(fieldsOf(base, { type: "u8" })).toEqual(["type"]);
    expect(fieldsOf(base, { c: 0 })).toEqual(["operand c"]);
  });

  test("behavior: the judge's version is 2 with it and 1 without", () => {
    const { steps, ...rest } = program(base);
    expect(judgeVersionOf({ steps, ...rest })).toBe(2);
    expect(judgeVersionOf({ steps: steps.slice(0, 2), ...rest })).toBe(1);
  });
});
