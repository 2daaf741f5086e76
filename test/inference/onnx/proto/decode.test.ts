import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { BaseError } from "../../../../base/errors.ts";
import { decode, LIMITS } from "../../../../inference/onnx/proto/decode.ts";
import { Writer } from "../../../../inference/onnx/proto/encode.ts";
import type { MessageName } from "../../../../inference/onnx/proto/schema.ts";

/** A field with a length. */
function field(number: number, content: Uint8Array | readonly number[]): Uint8Array {
  const writer = new Writer();
  writer.delimited(number, Uint8Array.from(content));
  return writer.finish();
}
const joined = (...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))));
const repeated = (count: number, part: readonly number[]): Uint8Array =>
  new Uint8Array(Buffer.alloc(count * part.length, Uint8Array.from(part)));

function refusal(name: MessageName, bytes: Uint8Array): string {
  try {
    decode(name, bytes);
  } catch (error) {
    if (error instanceof BaseError) return `${error.code}: ${error.shortMessage}`;
    throw error;
  }
  return "read";
}
const BROKEN = "ONNX_MALFORMED: The file is not a valid ONNX model:";

const MINUS_ONE = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];

describe("decode", () => {
  it("default", () => {
    const dim = field(1, [0x08, 3]);
    const bytes = joined(field(1, [0x78]), field(2, field(1, joined([0x08, 1], field(2, dim)))));
    expect(decode("ValueInfo", bytes)).toEqual({
      name: "x",
      type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 3n }] } } },
    });
  });

  it("behavior: numbers of 64 bits are exact", () => {
    const largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    const least = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
    const odd = [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20]; // 2^54 + 1
    expect(decode("Tensor", field(1, joined(largest, least, odd, MINUS_ONE, [0])))).toEqual({
      dims: BigInt64Array.of(2n ** 63n - 1n, -(2n ** 63n), 2n ** 54n + 1n, -1n, 0n),
    });
    expect(decode("Attribute", Uint8Array.of(0x18, ...least))).toEqual({ i: -(2n ** 63n) });
  });

  it("behavior: a number of 32 bits is the low half of what is written", () => {
    expect(decode("Tensor", field(5, joined(MINUS_ONE, [0x83, 0x80, 0x80, 0x80, 0x10])))).toEqual({
      int32Data: Int32Array.of(-1, 3),
    });
  });

  it("behavior: lists are packed, unpacked or both, in the file's order", () => {
    const one = [0x38, 5];
    expect(decode("Tensor", joined(one, field(7, [6, 7]), one, field(7, [])))).toEqual({
      int64Data: BigInt64Array.of(5n, 6n, 7n, 5n),
    });
    const half = [0, 0, 0, 0x3f];
    expect(decode("Tensor", joined([0x25], half, field(4, joined(half, half))))).toEqual({
      floatData: Float32Array.of(0.5, 0.5, 0.5),
    });
    expect(decode("Node", joined(field(1, [0x61]), field(2, [0x62]), field(1, [])))).toEqual({
      input: ["a", ""],
      output: ["b"],
    });
  });

  it("behavior: unknown fields of every wire type are skipped, the last of a field that is there twice counts", () => {
    const unknown = joined([0xf8, 0x01, 0x80, 0x01], [0xf9, 0x01, 1, 2, 3, 4, 5, 6, 7, 8]);
    const more = joined([0xfd, 0x01, 1, 2, 3, 4], field(31, [0x0b, 0xff]));
    expect(decode("Opset", joined([0x10, 1], unknown, [0x10, 17], more))).toEqual({ version: 17n });
  });

  it("behavior: a graph inside an attribute is not entered, however deep", () => {
    let nested = new Uint8Array(0);
    for (let i = 0; i < 2000; i++) nested = field(1, field(5, field(6, nested))) as typeof nested;
    const { graph } = decode("Model", field(7, nested));
    expect(graph?.node?.[0]?.attribute?.[0]?.g?.length).toBeGreaterThan(10_000);
  });

  it("behavior: bytes are views, text is taken as it is", () => {
    const bytes = joined(field(8, [0xef, 0xbb, 0xbf, 0x61]), field(9, [1, 2]));
    const tensor = decode("Tensor", bytes);
    expect(tensor.name).toBe("\ufeffa");
    expect(tensor.rawData?.buffer).toBe(bytes.buffer);
  });

  it.each<[string, MessageName, Uint8Array, string]>([
    [
      "a number that is cut off",
      "Opset",
      Uint8Array.of(0x10, 0xff),
      "a number runs past its message at byte 1.",
    ],
    ["a tag that is cut off", "Opset", Uint8Array.of(0x80), "a number runs past its message at byte 0."],
    [
      "a number of 70 bits",
      "Opset",
      joined([0x10], MINUS_ONE.with(9, 0x81), [1]),
      "a number of more than 64 bits at byte 1.",
    ],
    [
      "a number of 65 bits",
      "Opset",
      joined([0x10], MINUS_ONE.with(9, 2)),
      "a number of more than 64 bits at byte 1.",
    ],
    [
      "a length past the end",
      "Model",
      Uint8Array.of(0x3a, 5, 0),
      "5 bytes run past their message at byte 1.",
    ],
    [
      "a length past the parent, inside the file",
      "Model",
      joined(field(7, [0x12, 9, 0x61]), repeated(20, [0x08, 1])),
      "9 bytes run past their message at byte 3.",
    ],
    [
      "a length of 2^42",
      "Model",
      Uint8Array.of(0x3a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
      "4398046511104 bytes run past their message at byte 1.",
    ],
    [
      "a message as a number",
      "Model",
      Uint8Array.of(0x38, 1),
      "Model.graph with wire type 0 where 2 belongs at byte 0.",
    ],
    [
      "a number as text",
      "Model",
      field(1, [0x61]),
      "Model.irVersion with wire type 2 where 0 belongs at byte 0.",
    ],
    [
      "a list of fixed width as numbers",
      "Tensor",
      Uint8Array.of(0x20, 1),
      "Tensor.floatData with wire type 0 where 5 belongs at byte 0.",
    ],
    [
      "a list with half an element",
      "Tensor",
      field(4, [0, 0, 0, 0, 1]),
      "4 bytes run past their message at byte 6.",
    ],
    [
      "a group",
      "Model",
      Uint8Array.of(0x0b, 0x0c),
      "Model.irVersion with wire type 3 where 0 belongs at byte 0.",
    ],
    ["an unknown group", "Model", Uint8Array.of(0xfb, 0x01, 0xfc, 0x01), "wire type 3 at byte 0."],
    ["ten thousand groups", "Model", repeated(10_000, [0xfb, 0x01]), "wire type 3 at byte 0."],
    ["a wire type that is not there", "Model", Uint8Array.of(0xff, 0x01), "wire type 7 at byte 0."],
    ["field 0", "Model", Uint8Array.of(0x02, 0), "field number 0 at byte 0."],
    ["field 2^29", "Model", Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x10), "field number 536870912 at byte 0."],
    ["two graphs", "Model", joined(field(7, []), field(7, [])), "Model.graph a second time at byte 2."],
    ["text that is no UTF-8", "Opset", field(1, [0x61, 0xff]), "Opset.domain that is no UTF-8 at byte 2."],
  ])("error: %s", (_what, name, bytes, sentence) => {
    expect(refusal(name, bytes)).toBe(`${BROKEN} ${sentence}`);
  });

  it("error: more than the limits", () => {
    const fields = repeated(LIMITS.fields + 1, [0x10, 1]);
    expect(refusal("Opset", fields)).toBe(
      "ONNX_TOO_LARGE: The ONNX file has 1000001 fields, at most 1000000 are read.",
    );
    const nodes = field(7, repeated(LIMITS.nodes + 1, [0x0a, 0]));
    expect(refusal("Model", nodes)).toContain("16385 nodes, at most 16384");
    const tensors = field(7, repeated(LIMITS.tensors + 1, [0x2a, 0]));
    expect(refusal("Model", tensors)).toContain("16385 tensors, at most 16384");
    const twice = joined(field(5, new Uint8Array(LIMITS.numbers / 2)), field(7, [1]));
    expect(decode("Tensor", twice).int32Data?.length).toBe(LIMITS.numbers / 2);
    // One by one, numbers are no fields.
    const single = repeated(LIMITS.fields + 1, [0x28, 1]);
    expect(decode("Tensor", single).int32Data?.length).toBe(LIMITS.fields + 1);
    const numbers = field(5, new Uint8Array(LIMITS.numbers + 1));
    expect(refusal("Tensor", numbers)).toContain("16777217 numbers in lists, at most 16777216");
  });
});

describe("memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = (): number => {
    collect();
    collect(); // what the first one found unused is given back by the second
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };

  /** What a byte of a file can become: an empty attribute is two bytes and an object. */
  const MOST = 48;

  it.each<[string, MessageName, Uint8Array]>([
    ["numbers of 64 bits in one list", "Tensor", field(7, new Uint8Array(4_000_000))],
    ["numbers of 32 bits in one list", "Tensor", field(5, new Uint8Array(4_000_000))],
    ["numbers one by one", "Tensor", repeated(LIMITS.fields, [0x38, 0])],
    ["lists of one number", "Tensor", repeated(LIMITS.fields, [0x3a, 1, 0])],
    ["empty messages", "Node", repeated(LIMITS.fields, [0x2a, 0])],
    ["empty text", "Node", repeated(LIMITS.fields, [0x0a, 0])],
    ["raw bytes", "Tensor", field(9, new Uint8Array(4_000_000))],
  ])("behavior: %s", (_what, name, bytes) => {
    const before = used();
    const message = decode(name, bytes);
    const grown = used() - before;
    expect(grown / bytes.length).toBeLessThan(MOST);
    expect(Object.keys(message)).toHaveLength(1);
    process.stdout.write(`${(grown / bytes.length).toFixed(1)} bytes a byte\n`);
  });
});
