import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decode } from "../../../../inference/onnx/proto/decode.ts";
import { encode } from "../../../../inference/onnx/proto/encode.ts";
import {
  type Field,
  fieldsOf,
  isMessage,
  type Message,
  type MessageName,
} from "../../../../inference/onnx/proto/schema.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const SCALARS = {
  int32: fc.integer(),
  int64,
  float: fc.float(),
  string: fc.string({ unit: "grapheme", maxLength: 5 }),
  bytes: fc.uint8Array({ maxLength: 5 }),
} as const;

function listOf(kind: Field["kind"]): fc.Arbitrary<unknown> {
  switch (kind) {
    case "int32":
      return fc.int32Array({ minLength: 1, maxLength: 5 });
    case "int64":
      return fc.array(int64, { minLength: 1, maxLength: 5 }).map((list) => BigInt64Array.from(list));
    case "float":
      return fc.float32Array({ minLength: 1, maxLength: 5 });
    default:
      return fc.array(elementOf(kind), { minLength: 1, maxLength: 3 });
  }
}
const elementOf = (kind: Field["kind"]): fc.Arbitrary<unknown> =>
  isMessage(kind) ? messageOf(kind) : SCALARS[kind];

/** Any message with any of its fields. */
function messageOf(name: MessageName): fc.Arbitrary<object> {
  const fields = [...fieldsOf(name).values()];
  const model = Object.fromEntries(
    fields.map(({ name: key, kind, isList }) => [key, isList ? listOf(kind) : elementOf(kind)]),
  );
  return fc.record(model, { requiredKeys: [], noNullPrototype: true });
}

describe("encode", () => {
  it("default", () => {
    const message: Message<"Attribute"> = { name: "ab", f: 1, i: -2, ints: [1, 300n], type: 7 };
    expect(Buffer.from(encode("Attribute", message)).toString("hex")).toBe(
      ["0a026162", "150000803f", "18feffffffffffffffff01", "420301ac02", "a00107"].join(""),
    );
  });

  it("behavior: empty text and bytes are written, empty lists are not", () => {
    expect(encode("Node", { input: [], name: "", attribute: [] })).toEqual(Uint8Array.of(0x1a, 0));
    expect(encode("Tensor", { dims: [], rawData: new Uint8Array(0) })).toEqual(Uint8Array.of(0x4a, 0));
  });

  it("behavior: what was written is what is read", () => {
    fc.assert(
      fc.property(messageOf("Model"), (message) => {
        expect(decode("Model", encode("Model", message))).toEqual(message);
      }),
    );
  });
});

describe("fieldsOf", () => {
  it("behavior: fields stand in the order of their numbers, and lead to no message twice", () => {
    const walk = (name: MessageName, above: readonly MessageName[]): void => {
      expect(above).not.toContain(name);
      const fields = [...fieldsOf(name).values()];
      const numbers = fields.map(({ number }) => number);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      for (const { kind } of fields) if (isMessage(kind)) walk(kind, [...above, name]);
    };
    walk("Model", []);
  });
});
