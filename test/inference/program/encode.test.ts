import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { breakProgram } from "../../../conformance/generate/mutations.ts";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { line, rawInput, rawProgram, step } from "../../../conformance/generate/small-programs.ts";
import { decodeProgram, encodeProgram } from "../../../inference/program/encode.ts";
import { NONE } from "../../../inference/program/form.ts";
import { createRng } from "../../support/rng.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const example = rawProgram(
  4,
  [rawInput("u8", [4]), line(0, "u8", 4, 3)],
  [{ layout: "dot", type: "u8", dims: [2, 40] }],
);

function refusal(bytes: Uint8Array): BaseError | undefined {
  try {
    decodeProgram(bytes);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(BaseError);
    return error as BaseError;
  }
}

describe("encodeProgram", () => {
  test("default", () => {
    const bytes = encodeProgram(example);
    expect(toHex(bytes.subarray(0, 32))).toBe(`0x41535931000100020403${"00000004"}${"00".repeat(18)}`);
    expect(toHex(bytes.subarray(32, 64))).toBe(`0x02000200${"00000002"}${"00000028"}${"00".repeat(20)}`);
    expect(toHex(bytes.subarray(64, 96))).toBe(`0x01040001ffffffffffff00000000${"00".repeat(18)}`);
    expect(toHex(bytes.subarray(192, 224))).toBe(`0x02000001${"0000"}ffffffff00000000${"00".repeat(18)}`);
    expect(toHex(bytes.subarray(256, 272))).toBe(`0x${"00000004"}${"00000000"}000001000000${"0000"}`);
  });

  test("behavior: negative coordinates are two's complement", () => {
    const moved = step({
      ...line(0, "u8", 4, 3),
      coordinates: [
        { view: 4, a: -1, p: 0, b: -(2 ** 23), q: 0, c: -2 },
        ...line(0, "u8", 4, 3).coordinates.slice(1),
      ],
    });
    const program = rawProgram(4, [rawInput("u8", [4]), moved]);
    const bytes = encodeProgram(program);
    expect(toHex(bytes.subarray(224, 240))).toBe("0x00000004fffffffeffffff8000000000");
    expect(decodeProgram(bytes)).toEqual(program);
  });

  test.each([
    ["k", { k: 2 ** 32 }],
    ["k", { k: -1 }],
    ["k", { k: 0.5 }],
    ["operand a", { a: 65_536 }],
    ["rank", { dims: [] }],
    ["rank", { dims: [1, 1, 1, 1, 1, 1, 1] }],
    ["dim 0", { dims: [2 ** 32] }],
    ["coordinates", { opcode: "move" as const }],
  ])("error: %s does not fit", (field, fields) => {
    const program = rawProgram(1, [step({ opcode: "reduce", ...fields })]);
    expect(() => encodeProgram(program)).toThrow(expect.objectContaining({ code: "PROGRAM_NOT_ENCODABLE" }));
    expect(() => encodeProgram(program)).toThrow(new RegExp(field));
  });

  test("error: a coordinate does not fit", () => {
    const [first, ...rest] = line(0, "u8", 4, 3).coordinates;
    for (const change of [{ a: 2 ** 23 }, { b: -(2 ** 23) - 1 }, { c: 2 ** 31 }, { p: 256 }, { view: -1 }]) {
      const coordinates = [{ ...(first as NonNullable<typeof first>), ...change }, ...rest];
      const program = rawProgram(1, [step({ opcode: "move", coordinates })]);
      expect(() => encodeProgram(program)).toThrow(/coordinate 0/);
    }
  });
});

describe("decodeProgram", () => {
  test("behavior: is the inverse of encodeProgram", () => {
    fc.assert(
      fc.property(seeds, fc.boolean(), (seed, hostile) => {
        const { program } = seededProgram(seed, { hostile }).model;
        expect(decodeProgram(encodeProgram(program))).toEqual(program);
      }),
      { numRuns: 150 },
    );
  });

  test("behavior: what it accepts encodes to the same bytes, whatever was changed", () => {
    let accepted = 0;
    fc.assert(
      fc.property(seeds, (seed) => {
        const rng = createRng(seed);
        const bytes = breakProgram(rng, encodeProgram(seededProgram(seed, { steps: 1 }).model.program));
        if (refusal(bytes) === undefined) {
          accepted++;
          expect(toHex(encodeProgram(decodeProgram(bytes)))).toBe(toHex(bytes));
        }
      }),
      { numRuns: 300, seed: 1 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  test("error: every unused byte must be zero, and the message says which is not", () => {
    const program = rawProgram(
      4,
      [rawInput("u8", [2, 2]), line(0, "u8", 4, 3)],
      [{ layout: "dot", type: "u8", dims: [2, 40] }],
    );
    const bytes = encodeProgram(program);
    const range = (from: number, to: number): number[] =>
      Array.from({ length: to - from }, (_, i) => from + i);
    const unused = [
      ...range(14, 32),
      35,
      ...range(44, 64),
      ...range(64 + 14, 64 + 32),
      ...range(64 + 40, 64 + 128),
      ...range(192 + 14, 192 + 32),
      ...range(192 + 36, 192 + 64),
    ];
    for (const offset of unused) {
      const broken = bytes.slice();
      broken[offset] = 1;
      expect(refusal(broken)).toMatchObject({ code: "PROGRAM_NOT_CANONICAL", details: { offset } });
    }
  });

  test.each([
    ["an empty program", 0, new Uint8Array(0)],
    ["another magic", 0, Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 0x42 : 0))],
  ])("error: %s", (_name, offset, bytes) => {
    expect(refusal(bytes)?.details.offset).toBe(offset);
  });

  test.each([
    [4, 9, "length"],
    [8, 0, "input codec"],
    [8, 5, "input codec"],
    [9, 4, "output codec"],
    [32, 0, "layout"],
    [32, 5, "layout"],
    [33, 5, "type"],
    [34, 0, "rank"],
    [34, 7, "rank"],
    [64, 0, "opcode"],
    [64, 12, "opcode"],
    [66, 5, "type"],
    [67, 0, "rank"],
    [67, 7, "rank"],
  ])("error: byte %i is %i", (offset, value, field) => {
    const bytes = encodeProgram(example);
    bytes[offset] = value;
    const error = refusal(bytes);
    expect(error?.details.field).toContain(field);
    if (field !== "length") expect(error?.details.offset).toBe(offset);
  });

  test("error: a byte too many or too few", () => {
    const bytes = encodeProgram(example);
    expect(refusal(bytes.subarray(1))).toBeDefined();
    expect(refusal(bytes.subarray(0, bytes.length - 1))?.message).toMatchInlineSnapshot(
      `"Program byte 319: length is 319, must be 320 bytes for 1 weight tensors and 2 steps. Use the bytes that the importer wrote, unchanged."`,
    );
    expect(refusal(Uint8Array.from([...bytes, 0]))?.details).toMatchObject({ offset: 320, value: 321 });
  });

  test("behavior: none is an operand like another", () => {
    expect(decodeProgram(encodeProgram(example)).steps[0]?.a).toBe(NONE);
  });
});
