/** JSON that strangers send. */
import { describe, expect, it } from "vitest";
import { parseJson } from "../../base/json.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("parseJson", () => {
  it("default: any value", () => {
    expect(parseJson(bytesOf('{"a": [1, null, "b"]}'), "the body")).toEqual({ a: [1, null, "b"] });
    expect(parseJson(bytesOf(nested(60)), "the body")).toHaveLength(1);
  });

  it("error: what nests so deeply that to show it overflows the stack", () => {
    for (const text of [nested(100), nested(100_000), `{"calldata": [${nested(100_000)}]}`])
      expect(() => parseJson(bytesOf(text), "the body")).toThrow(
        expect.objectContaining({
          code: "JSON_INVALID",
          shortMessage: expect.stringContaining("nests deeper than 64"),
        }),
      );
  });

  it("error: no JSON, no UTF-8", () => {
    expect(() => parseJson(bytesOf("{"), "the body")).toThrow(
      expect.objectContaining({ code: "JSON_INVALID" }),
    );
    expect(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22), "the body")).toThrow(
      expect.objectContaining({ code: "TEXT_NOT_UNICODE" }),
    );
  });
});
