import { describe, expect, test } from "vitest";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { rawInput, rawProgram, step, weight } from "../../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { execute, executeTensors, trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { Model, Step, Tensor, TensorType } from "../../../inference/program/form.ts";
import { bitsOf, bitsOfFloat, fromStoredBytes, storedBytes } from "../../../inference/program/tensor.ts";
import {
  type ChannelParameters,
  packChannel,
  packDot,
  packLookup,
} from "../../../inference/program/weights.ts";

const selector = Uint8Array.of(1, 2, 3, 4);

/** Runs the last step on operands given as stored bytes. */
function run(
  steps: readonly Step[],
  weights: Model["program"]["weights"],
  bytes: readonly Uint8Array[],
  inputs: readonly Tensor[],
): Tensor {
  const prepared = prepare({ program: rawProgram(4000, steps, weights), weights: bytes }, selector);
  return executeTensors(prepared, inputs).at(-1) as Tensor;
}

const s32 = (...values: number[]): Tensor => ({
  type: "s32",
  dims: [values.length],
  data: Int32Array.from(values),
});
const f32 = (...values: number[]): Tensor => ({
  type: "f32",
  dims: [values.length],
  data: Float32Array.from(values),
});
const bytesOf = (type: TensorType, ...values: number[]): Tensor => ({
  type,
  dims: [values.length],
  data: Uint8Array.from(values),
});

const inputsOf = (...tensors: Tensor[]): Step[] => tensors.map(({ type, dims }) => rawInput(type, dims));

function elementwise(fields: Partial<Step> & Pick<Step, "opcode">, ...tensors: Tensor[]): Tensor {
  const [a, b, c] = tensors.map((_, i) => i);
  const last = step({
    dims: (tensors[0] as Tensor).dims,
    ...(a !== undefined && { a }),
    ...(b !== undefined && { b }),
    ...(c !== undefined && { c }),
    ...fields,
  });
  return run([...inputsOf(...tensors), last], [], [], tensors);
}

const parameters = (change: Partial<ChannelParameters>): ChannelParameters => ({
  bias: 0,
  multiplier: 1,
  addend: 0n,
  shift: 0,
  scaleBits: bitsOfFloat(1),
  zeroPoint: 0,
  lower: 0,
  upper: 255,
  weightOffset: 0,
  ...change,
});

const MIN = -(2 ** 31);
const MAX = 2 ** 31 - 1;

describe("execute", () => {
  test("behavior: equals trace and executeTensors, twice in a row", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const { model, selector: own, calldata } = seededProgram(seed, { hostile: seed % 2 === 0 });
      const prepared = prepare(model, own);
      const tensors = trace(prepared, calldata);
      const first = execute(prepared, calldata);
      expect(execute(prepared, calldata)).toEqual(first);
      const inputs = tensors.filter((_, i) => model.program.steps[i]?.opcode === "codec");
      expect(executeTensors(prepared, inputs).map((tensor) => storedBytes(tensor.data))).toEqual(
        tensors.map((tensor) => storedBytes(tensor.data)),
      );
      expect(execute(prepare(model, own), calldata)).toEqual(first);
    }
  });

  test("behavior: sums wrap", () => {
    expect(elementwise({ opcode: "arith" }, s32(MAX, MIN), s32(1, -1)).data).toEqual(Int32Array.of(MIN, MAX));
    expect(elementwise({ opcode: "arith", variant: 1 }, s32(MIN), s32(1)).data).toEqual(Int32Array.of(MAX));
    expect(elementwise({ opcode: "arith", variant: 2 }, s32(65_536, MIN), s32(65_537, -1)).data).toEqual(
      Int32Array.of(65_536, MIN),
    );
    const rows: Tensor = { ...s32(MAX, MAX, 3), dims: [1, 3] };
    expect(run([rawInput("s32", [1, 3]), step({ opcode: "reduce", a: 0 })], [], [], [rows]).data).toEqual(
      Int32Array.of(1),
    );
  });

  test("behavior: a result saturates after it wrapped", () => {
    expect(elementwise({ opcode: "arith", type: "u8" }, s32(MAX, 200), s32(1, 100)).data).toEqual(
      Uint8Array.of(0, 255),
    );
    expect(elementwise({ opcode: "arith", variant: 9, type: "s8" }, s32(-129, 128, 5)).data).toEqual(
      Uint8Array.of(0, 255, 133),
    );
    expect(elementwise({ opcode: "arith", variant: 9, type: "bool" }, s32(0, -7)).data).toEqual(
      Uint8Array.of(0, 1),
    );
  });

  test("behavior: a divisor below 1 gives 0, others truncate toward zero", () => {
    const divided = elementwise({ opcode: "arith", variant: 5 }, s32(-7, 7, -7, MIN, 5), s32(2, 2, 0, -1, 1));
    expect(divided.data).toEqual(Int32Array.of(-3, 3, 0, 0, 5));
  });

  test("behavior: bool bytes read as their value, any nonzero one as true", () => {
    const odd = bytesOf("bool", 0, 1, 7);
    expect(elementwise({ opcode: "arith" }, odd, s32(1, 1, 1)).data).toEqual(Int32Array.of(1, 2, 8));
    expect(elementwise({ opcode: "select" }, odd, s32(1, 2, 3), s32(4, 5, 6)).data).toEqual(
      Int32Array.of(4, 2, 3),
    );
  });

  test("behavior: NaN is canonical where it is computed and kept where it is copied", () => {
    const nan = fromStoredBytes("f32", Uint8Array.of(0xff, 0x80, 0, 1, 0x7f, 0x80, 0, 0)) as Float32Array;
    const odd: Tensor = { type: "f32", dims: [2], data: nan };
    const bits = (tensor: Tensor): string[] => Array.from(bitsOf(tensor.data), (x) => (x >>> 0).toString(16));
    expect(bits(elementwise({ opcode: "float", type: "f32" }, odd, f32(1, -Infinity)))).toEqual([
      "7fc00000",
      "7fc00000",
    ]);
    expect(bits(elementwise({ opcode: "float", variant: 6, type: "f32" }, odd, f32(1, 2)))).toEqual([
      "7fc00000",
      "40000000",
    ]);
    expect(bits(elementwise({ opcode: "float", variant: 4, type: "f32" }, f32(-1, -0)))).toEqual([
      "7fc00000",
      "80000000",
    ]);
    expect(bits(elementwise({ opcode: "select", type: "f32" }, bytesOf("bool", 1, 0), odd, odd))).toEqual([
      "ff800001",
      "7f800000",
    ]);
  });

  test("behavior: rounding keeps the sign of zero, min and max do not", () => {
    const rounded = elementwise(
      { opcode: "float", variant: 5, type: "f32" },
      f32(-0.5, 0.5, 1.5, 2.5, -0, 8388609),
    );
    expect(Array.from(rounded.data)).toEqual([-0, 0, 2, 2, -0, 8388609]);
    const least = elementwise({ opcode: "float", variant: 6, type: "f32" }, f32(-0, 0), f32(0, -0));
    expect(Array.from(least.data)).toEqual([0, 0]);
  });

  test("behavior: toint truncates and saturates", () => {
    const out = elementwise({ opcode: "float", variant: 12 }, f32(-1.9, 1.9, 3e9, -Infinity, Number.NaN));
    expect(out.data).toEqual(Int32Array.of(-1, 1, MAX, MIN, 0));
  });

  test("behavior: requantization by both forms", () => {
    const channels = [
      parameters({ multiplier: 3, addend: 4n, shift: 3, scaleBits: bitsOfFloat(0.5), zeroPoint: 10 }),
      parameters({
        multiplier: 2 ** 32 - 1,
        addend: -(2n ** 63n),
        shift: 63 + 64,
        bias: MAX,
        upper: 200,
        lower: 3,
      }),
    ];
    const input: Tensor = { type: "s32", dims: [3, 2], data: Int32Array.of(5, 0, -5, 1, 3, MIN) };
    const form = (variant: number): Tensor =>
      run(
        [
          rawInput("s32", [3, 2]),
          step({ opcode: "requant", variant, type: "u8", dims: [3, 2], a: 0, b: weight(0) }),
        ],
        [{ layout: "channel", type: "u8", dims: [2] }],
        [packChannel(channels)],
        [input],
      );
    // Channel 0: (3·acc + 4) >> 3, plus 10. Channel 1: acc·M + B wraps modulo 2^64; both clamps act.
    expect(form(1).data).toEqual(Uint8Array.of(12, 3, 8, 3, 11, 3));
    expect(form(2).data).toEqual(Uint8Array.of(12, 200, 8, 3, 12, 3));
  });

  test("behavior: DOT subtracts offsets, adds bias and groups rows", () => {
    const channels = [parameters({ bias: 7, weightOffset: 1 }), parameters({ weightOffset: 65_535 })];
    const input: Tensor = { type: "u8", dims: [2, 2], data: Uint8Array.of(1, 2, 3, 4) };
    const dot = (groups: number, rows: number): Tensor =>
      run(
        [rawInput("u8", [2, 2]), step({ opcode: "dot", dims: [rows, 2], a: 0, b: weight(0), k: groups })],
        [{ layout: "dot", type: "u8", dims: [2, 2] }],
        [packDot(Uint8Array.of(5, 6, 7, 8), 2, channels)],
        [input],
      );
    expect(dot(1, 2).data).toEqual(Int32Array.of(17 - 3 + 7, 23 - 3 * 65_535, 39 - 7 + 7, 53 - 7 * 65_535));
    expect(dot(2, 1).data).toEqual(Int32Array.of(17 - 3 + 7, 53 - 7 * 65_535));
  });

  test("behavior: LOOKUP clamps ids and skips row 0", () => {
    const table = packLookup(Int8Array.of(100, 100, 1, 2, -3, 4), 2);
    const ids: Tensor = { type: "s32", dims: [2, 3], data: Int32Array.of(0, 1, 1, -5, 2, 99) };
    const sum = run(
      [rawInput("s32", [2, 3]), step({ opcode: "lookup", dims: [2, 2], a: 0, b: weight(0) })],
      [{ layout: "lookup", type: "s8", dims: [3, 2] }],
      [table],
      [ids],
    );
    expect(sum.data).toEqual(Int32Array.of(2, 4, -6, 8));
  });

  test("behavior: words of an output, through calldata", () => {
    const program = { ...rawProgram(2, [rawInput("s8", [2])]), outputCodec: "words" as const };
    const prepared = prepare({ program, weights: [] }, selector);
    const calldata = encodeInput(program, selector, { codec: "raw", bytes: Uint8Array.of(0xff, 5) });
    expect(decodeOutput(program, execute(prepared, calldata)).data).toEqual(Uint8Array.of(127, 133));
  });
});

describe("prepare", () => {
  test("error: weights of another length", () => {
    const program = rawProgram(4, [rawInput("s32", [1])], [{ layout: "dot", type: "u8", dims: [2, 40] }]);
    expect(() =>
      prepare({ program, weights: [new Uint8Array(5)] }, selector),
    ).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: bytes of weight tensor 0 is 5, the program needs 192. Load the weights that were written together with this program.]`,
    );
    expect(() => prepare({ program, weights: [] }, selector)).toThrow(/number of weight tensors is 0/);
  });

  test("error: a program that no registry accepts", () => {
    expect(() => prepare({ program: rawProgram(4, []), weights: [] }, selector)).toThrow(/number of steps/);
  });
});

describe("executeTensors", () => {
  test("error: an input that is absent, or of another type or shape", () => {
    const prepared = prepare({ program: rawProgram(4, [rawInput("s32", [1])]), weights: [] }, selector);
    expect(() => executeTensors(prepared, [])).toThrow(/input tensor 0 of 1/);
    expect(() => executeTensors(prepared, [s32(1, 2)])).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: input tensor 0 of 1 (step 0) is s32 [2] of 2 elements, must be s32 [1] in a Int32Array. Give the tensor in the type, order and memory that the program declares.]`,
    );
    expect(() => executeTensors(prepared, [f32(1)])).toThrow(/must be s32 \[1\]/);
  });
});
