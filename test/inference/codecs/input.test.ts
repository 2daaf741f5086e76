import fc from "fast-check";
import { type AbiParameter, encodeAbiParameters, parseAbiParameters } from "viem";
import { describe, expect, test } from "vitest";
import { concatBytes, fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { rawProgram, step } from "../../../conformance/generate/small-programs.ts";
import {
  type CodecInput,
  decodeInput,
  encodeInput,
  fillInputTensor,
} from "../../../inference/codecs/input.ts";
import type { InputCodec, Program, Step } from "../../../inference/program/form.ts";
import { elementCount } from "../../../inference/program/form.ts";
import { maxCalldata } from "../../../inference/program/shape.ts";
import { bitsOf, newData } from "../../../inference/program/tensor.ts";

const selector = Uint8Array.of(0xde, 0xad, 0xbe, 0xef);
const programOf = (inputCodec: InputCodec, inputSize: number): Program => ({
  ...rawProgram(inputSize, []),
  inputCodec,
});

function viemCalldata(types: string, values: readonly unknown[]): Uint8Array {
  return concatBytes(
    selector,
    fromHex(encodeAbiParameters(parseAbiParameters(types) as AbiParameter[], values as never)),
  );
}

function refusal(program: Program, calldata: Uint8Array): BaseError {
  try {
    decodeInput(program, selector, calldata);
  } catch (error) {
    expect(error).toBeInstanceOf(BaseError);
    return error as BaseError;
  }
  return expect.fail("decodeInput accepted it") as never;
}

const price = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const prices = (n: number) => fc.array(price, { minLength: n, maxLength: n });
const int16 = fc.integer({ min: -32_768, max: 32_767 });

describe("encodeInput", () => {
  test("behavior: equals viem's encoding and decodes to the same input", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100 }),
        fc.array(int16, { minLength: 1, maxLength: 40 }),
        prices(3),
        prices(3),
        (bytes, numbers, closes, highs) => {
          const words = Array.from({ length: Math.ceil(numbers.length / 16) }, (_, w) =>
            Array.from({ length: 16 }, (_, i) => BigInt.asUintN(16, BigInt(numbers[16 * w + i] ?? 0))).reduce(
              (all, x) => (all << 16n) | x,
              0n,
            ),
          );
          const cases: [Program, CodecInput, Uint8Array][] = [
            [
              programOf("raw", Math.max(1, bytes.length)),
              { codec: "raw", bytes },
              viemCalldata("bytes", [toHex(bytes)]),
            ],
            [
              programOf("int16s", numbers.length),
              { codec: "int16s", int16s: Int16Array.from(numbers) },
              viemCalldata("uint256[]", [words]),
            ],
            [
              programOf("prices", 3),
              { codec: "prices", closes, highs, lows: closes },
              viemCalldata("uint256[], uint256[], uint256[]", [closes, highs, closes]),
            ],
          ];
          for (const [program, input, expected] of cases) {
            if (input.codec === "raw" && bytes.length === 0) continue;
            const calldata = encodeInput(program, selector, input);
            expect(toHex(calldata)).toBe(toHex(expected));
            expect(calldata.length).toBe(maxCalldata(program));
            expect(decodeInput(program, selector, calldata)).toEqual(input);
          }
        },
      ),
    );
  });

  test("behavior: any bytes are a text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (text) => {
        const calldata = encodeInput(programOf("text", 70), selector, { codec: "text", text });
        const decoded = decodeInput(programOf("text", 70), selector, calldata);
        expect(decoded).toEqual({ codec: "text", text });
      }),
    );
    const text = "Größe, 北京!";
    const bytes = new TextEncoder().encode(text);
    expect(toHex(encodeInput(programOf("text", 70), selector, { codec: "text", text: bytes }))).toBe(
      toHex(viemCalldata("string", [text])),
    );
  });

  test("error: the input of another codec", () => {
    expect(() =>
      encodeInput(programOf("text", 9), selector, { codec: "raw", bytes: new Uint8Array(1) }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: The input is for the codec raw, the model takes text. Give the input as the codec text takes it.]`,
    );
  });

  test("error: a price that is no uint256", () => {
    for (const bad of [-1n, 2n ** 256n]) {
      const input: CodecInput = { codec: "prices", closes: [1n, bad], highs: [1n, 1n], lows: [1n, 1n] };
      expect(() => encodeInput(programOf("prices", 2), selector, input)).toThrow(/closes\[1\]/);
    }
  });
});

describe("decodeInput", () => {
  test.each<[string, Program, Uint8Array, string]>([
    ["text", programOf("text", 3), viemCalldata("string", ["four"]), "TEXT_TOO_LONG"],
    ["raw", programOf("raw", 3), viemCalldata("bytes", ["0x0102"]), "RAW_LENGTH_INVALID"],
    ["int16s", programOf("int16s", 16), viemCalldata("uint256[]", [[1n, 2n]]), "INT16S_INVALID"],
    ["int16s", programOf("int16s", 15), viemCalldata("uint256[]", [[1n]]), "INT16S_INVALID"],
    [
      "prices",
      programOf("prices", 2),
      viemCalldata("uint256[], uint256[], uint256[]", [[1n, 2n], [1n], [1n, 2n]]),
      "PRICES_INVALID",
    ],
  ])("error: %s of the wrong size", (_codec, program, calldata, code) => {
    expect(refusal(program, calldata).code).toBe(code);
  });

  test("error: another selector, or none", () => {
    const calldata = viemCalldata("string", ["x"]);
    calldata[0] = 0;
    expect(refusal(programOf("text", 9), calldata).code).toBe("SELECTOR_MISMATCH");
    expect(refusal(programOf("text", 9), new Uint8Array(0)).code).toBe("SELECTOR_MISMATCH");
  });

  test("behavior: each bit of heads, lengths and padding counts", () => {
    const program = programOf("text", 40);
    const calldata = viemCalldata("string", ["a text of thirty-four characters !"]);
    const content = { from: 4 + 64, to: 4 + 64 + 34 };
    for (let at = 0; at < calldata.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const broken = calldata.slice();
        broken[at] = (broken[at] as number) ^ (1 << bit);
        // A longer text that ends in zero bytes is another canonical text.
        const longer = at === 4 + 63 && (broken[at] as number) > 34 && (broken[at] as number) <= 40;
        if (longer || (at >= content.from && at < content.to))
          expect(decodeInput(program, selector, broken).codec).toBe("text");
        else expect(refusal(program, broken)).toBeInstanceOf(BaseError);
      }
    }
  });

  test("behavior: a byte more, a byte less, a gap or an overlap is refused", () => {
    const program = programOf("prices", 2);
    const calldata = viemCalldata("uint256[], uint256[], uint256[]", [
      [1n, 2n],
      [1n, 2n],
      [1n, 2n],
    ]);
    expect(decodeInput(program, selector, calldata).codec).toBe("prices");
    for (let length = 0; length < calldata.length; length++) refusal(program, calldata.subarray(0, length));
    expect(refusal(program, Uint8Array.from([...calldata, 0])).message).toMatchInlineSnapshot(
      `"ABI byte 384: length of the data is 385, must be 384 bytes. Encode the arguments again with a standard ABI encoder."`,
    );
    const shared = calldata.slice();
    shared[4 + 63] = 0x60;
    expect(refusal(program, shared).message).toMatchInlineSnapshot(
      `"ABI byte 32: offset of argument 1 is 96, must be 192. Encode the arguments again with a standard ABI encoder."`,
    );
    const gap = concatBytes(calldata.subarray(0, 4 + 96), new Uint8Array(32), calldata.subarray(4 + 96));
    for (const i of [0, 1, 2]) gap[4 + 32 * i + 31] = (gap[4 + 32 * i + 31] as number) + 32;
    expect(refusal(program, gap).code).toBe("CALLDATA_NOT_CANONICAL");
  });
});

function tensorOf(record: Partial<Step> & Pick<Step, "type" | "dims">, input: CodecInput): number[] {
  const data = newData(record.type, elementCount(record.dims));
  fillInputTensor(step({ opcode: "codec", ...record }), input, data);
  return Array.from(data);
}

describe("fillInputTensor", () => {
  test("default: prices", () => {
    const input: CodecInput = {
      codec: "prices",
      closes: [100n, 110n, 99n, 0n, 7n],
      highs: [0n, 112n, 100n, 1n, 7n],
      lows: [0n, 109n, 98n, 0n, 8n],
    };
    expect(tensorOf({ type: "s32", dims: [3, 4] }, input)).toEqual([
      1000, -1000, -10_000, 0, 272, 202, 0, -1428, -9363, -9292, 0, 0,
    ]);
  });

  test("behavior: prices are capped, truncated toward zero and clamped", () => {
    const big = 2n ** 256n - 1n;
    const input: CodecInput = {
      codec: "prices",
      closes: [3n, 2n, big],
      highs: [0n, 2n, big],
      lows: [0n, 2n, 2n ** 128n - 1n],
    };
    expect(tensorOf({ type: "s32", dims: [3, 2] }, input)).toEqual([-3333, 32_767, 0, 0, 32_767, 0]);
  });

  test("default: int16s from an offset", () => {
    expect(
      tensorOf({ type: "s32", dims: [2], k: 1 }, { codec: "int16s", int16s: [1, -32_768, 32_767, 5] }),
    ).toEqual([-32_768, 32_767]);
  });

  test("default: raw bytes of each type", () => {
    const bytes = Uint8Array.of(9, 0x80, 0x7f, 0, 2, 1, 2, 3, 0x84);
    const input: CodecInput = { codec: "raw", bytes };
    expect(tensorOf({ type: "u8", dims: [2], k: 0 }, input)).toEqual([9, 0x80]);
    expect(tensorOf({ type: "s8", dims: [2], k: 1 }, input)).toEqual([0, 255]);
    expect(tensorOf({ type: "bool", dims: [3], k: 3 }, input)).toEqual([0, 1, 1]);
    expect(tensorOf({ type: "s32", dims: [1], k: 5 }, input)).toEqual([0x84030201 | 0]);
  });

  test.each([
    [0x49800000, 0x49800000],
    [0xc9800000, 0xc9800000],
    [0x49800001, 0],
    [0x7f800000, 0],
    [0xffc00001, 0],
    [0x80000000, 0],
    [0x007fffff, 0],
    [0x807fffff, 0],
    [0x00800000, 0x00800000],
    [0xbf800000, 0xbf800000],
  ])("behavior: a raw f32 of bits %i reads as %i", (bits, expected) => {
    const bytes = new Uint8Array(new Uint32Array([bits]).buffer);
    const data = newData("f32", 1);
    fillInputTensor(step({ opcode: "codec", type: "f32" }), { codec: "raw", bytes }, data);
    expect((bitsOf(data)[0] as number) >>> 0).toBe(expected);
  });
});
