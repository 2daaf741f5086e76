import { keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import { decodeKey, encodeKey, keyHash } from "../../../../prover/proof/ezkl/key.ts";

const key = {
  codeHash: `0x${"ab".repeat(32)}`,
  inputs: [
    { elements: 512, scaleBits: 13 },
    { elements: 2, scaleBits: 0 },
  ],
  outputs: [{ elements: 96, scaleBits: -3 }],
} as const;

describe("encodeKey", () => {
  it("default", () => {
    const tensors = ["02", "00000200", "0d", "00000002", "00", "01", "00000060", "fd"].join("");
    expect(toHex(encodeKey(key))).toBe(`0x02${"ab".repeat(32)}0000020200000060${tensors}`);
    expect(keyHash(key)).toBe(keccak256(encodeKey(key)));
  });
});

describe("decodeKey", () => {
  it("default", () => {
    expect(decodeKey(encodeKey(key))).toEqual(key);
  });

  it.each([
    ["nothing", (_: Uint8Array) => new Uint8Array(0)],
    ["another kind", (bytes: Uint8Array) => bytes.with(0, 1)],
    ["counts that are not the tensors'", (bytes: Uint8Array) => bytes.with(36, 7)],
    ["a byte less", (bytes: Uint8Array) => bytes.slice(0, -1)],
    ["a byte more", (bytes: Uint8Array) => Uint8Array.from([...bytes, 0])],
  ])("error: %s", (_, change) => {
    expect(() => decodeKey(change(encodeKey(key)))).toThrow(/are not those of an ezkl model/);
  });
});
