import { decodeAbiParameters } from "viem";
import { describe, expect, test } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { randomTensor } from "../../../conformance/generate/random-values.ts";
import { rawProgram, step } from "../../../conformance/generate/small-programs.ts";
import { decodeOutput, encodeOutput } from "../../../inference/codecs/output.ts";
import type { OutputCodec, Program, Tensor } from "../../../inference/program/form.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { bitsOf } from "../../../inference/program/tensor.ts";
import { createRng } from "../../support/rng.ts";

const programOf = (outputCodec: OutputCodec, { type, dims }: Pick<Tensor, "type" | "dims">): Program => ({
  ...rawProgram(1, [step({ opcode: "codec", type, dims })]),
  outputCodec,
});

describe("encodeOutput", () => {
  test.each<[Tensor, bigint[]]>([
    [{ type: "s8", dims: [3], data: Uint8Array.of(0, 128, 255) }, [-128n, 0n, 127n]],
    [{ type: "u8", dims: [2], data: Uint8Array.of(0, 255) }, [0n, 255n]],
    [{ type: "bool", dims: [3], data: Uint8Array.of(0, 1, 7) }, [0n, 1n, 7n]],
    [
      { type: "s32", dims: [2], data: Int32Array.of(-(2 ** 31), 2 ** 31 - 1) },
      [-(2n ** 31n), 2n ** 31n - 1n],
    ],
  ])("default: words", (tensor, expected) => {
    const output = encodeOutput(programOf("words", tensor), tensor);
    const decoded = decodeAbiParameters(
      expected.map(() => ({ type: "int256" })),
      toHex(output),
    );
    expect(decoded).toEqual(expected);
  });

  test("default: int16s saturates", () => {
    const tensor: Tensor = {
      type: "s32",
      dims: [18],
      data: Int32Array.from({ length: 18 }, (_, i) => (i - 9) * 4096),
    };
    const output = encodeOutput(programOf("int16s", tensor), tensor);
    const [words] = decodeAbiParameters([{ type: "uint256[]" }], toHex(output));
    const numbers = words.flatMap((word) =>
      Array.from({ length: 16 }, (_, i) => BigInt.asIntN(16, word >> BigInt(240 - 16 * i))),
    );
    expect(numbers.slice(0, 18).map(Number)).toEqual(
      Array.from(tensor.data, (x) => Math.max(-32_768, Math.min(32_767, x))),
    );
    expect(numbers.slice(18).every((number) => number === 0n)).toBe(true);
  });

  test.each<[Tensor, string]>([
    [{ type: "s8", dims: [2], data: Uint8Array.of(0, 255) }, "0x807f"],
    [{ type: "bool", dims: [3], data: Uint8Array.of(0, 1, 7) }, "0x000101"],
    [{ type: "s32", dims: [1], data: Int32Array.of(-2) }, "0xfeffffff"],
    [{ type: "f32", dims: [1], data: Float32Array.of(1) }, "0x0000803f"],
  ])("default: raw", (tensor, expected) => {
    const output = encodeOutput(programOf("raw", tensor), tensor);
    expect(decodeAbiParameters([{ type: "bytes" }], toHex(output))).toEqual([expected]);
  });

  test("behavior: the bits of an f32 are kept", () => {
    const data = new Float32Array(2);
    bitsOf(data).set([0x7f800001, 0x80000000 | 0]);
    const output = encodeOutput(programOf("raw", { type: "f32", dims: [2] }), {
      type: "f32",
      dims: [2],
      data,
    });
    expect(decodeAbiParameters([{ type: "bytes" }], toHex(output))).toEqual(["0x0100807f00000080"]);
  });
});

describe("decodeOutput", () => {
  test("behavior: is the inverse of encodeOutput, and output has its exact length", () => {
    const rng = createRng(3);
    const cases = [
      ["words", ["u8", "s8", "s32", "bool"]],
      ["raw", ["u8", "s8", "s32", "f32", "bool"]],
      ["int16s", ["s32"]],
    ] as const;
    for (const [codec, types] of cases) {
      for (const type of types) {
        const range = { low: -32_768, high: 32_767, quantum: 0 };
        const tensor = randomTensor(rng, type, [3, 7], false, codec === "int16s" ? range : undefined);
        const program = programOf(codec, tensor);
        const output = encodeOutput(program, tensor);
        expect(output).toHaveLength(outputLength(program));
        expect(decodeOutput(program, output)).toEqual(tensor);
      }
    }
  });

  test("error: bytes that no tensor encodes to", () => {
    const words = programOf("words", { type: "u8", dims: [1] });
    const tooLarge = new Uint8Array(32);
    tooLarge[30] = 1;
    expect(() => decodeOutput(words, tooLarge)).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: Return data: word 0 is 256, must be 0..255. Check that the output belongs to this model.]`,
    );
    expect(() => decodeOutput(words, new Uint8Array(31))).toThrow(/length is 31/);
    const bools = programOf("raw", { type: "bool", dims: [2] });
    const output = encodeOutput(bools, { type: "bool", dims: [2], data: Uint8Array.of(0, 1) });
    output[65] = 2;
    expect(() => decodeOutput(bools, output)).toThrow(/bool 1 is 2/);
    output[65] = 1;
    output[66] = 1;
    expect(() => decodeOutput(bools, output)).toThrow(/padding/);
  });
});
