import { keccak_256 } from "@noble/hashes/sha3.js";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { hashPair, keccak256 } from "../../../inference/commit/keccak.ts";
import { createRng } from "../../support/rng.ts";

describe("keccak256", () => {
  // Source: the hashes of the empty string and of "abc" that Ethereum's tools print.
  it("default", () => {
    expect(toHex(keccak256(new Uint8Array(0)))).toBe(
      "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    );
    expect(toHex(keccak256(new TextEncoder().encode("abc")))).toBe(
      "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
    );
  });

  it("behavior: is another implementation's hash at every length over several blocks", () => {
    const rng = createRng(1);
    for (let length = 0; length <= 3 * 136 + 1; length++) {
      const bytes = rng.bytes(length);
      expect(toHex(keccak256(bytes))).toBe(toHex(keccak_256(bytes)));
    }
    const long = rng.bytes(100_003);
    expect(toHex(keccak256(long))).toBe(toHex(keccak_256(long)));
  });

  it("behavior: a hash does not change when the next one is made", () => {
    const [first, second] = [keccak256(Uint8Array.of(1)), keccak256(Uint8Array.of(2))];
    expect(toHex(first)).toBe(toHex(keccak_256(Uint8Array.of(1))));
    expect(toHex(hashPair(first, second))).toBe(toHex(keccak_256(Buffer.concat([first, second]))));
  });
});
