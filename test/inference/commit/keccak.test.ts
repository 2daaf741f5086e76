import { keccak_256 } from "@noble/hashes/sha3.js";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { hashMessages, hashPair, keccak256 } from "../../../inference/commit/keccak.ts";
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

describe("hashMessages", () => {
  const lengths = [32, 64] as const;

  it.each(lengths)("behavior: of any number of messages of %i bytes it gives each one's hash", (length) => {
    const rng = createRng(length);
    let alike = 0;
    for (const count of [
      0,
      1,
      2,
      3,
      511,
      512,
      513,
      1_027,
      ...Array.from({ length: 60 }, () => rng.int(1, 40)),
    ]) {
      const [start, at] = [rng.int(0, 9), rng.int(0, 9)];
      const bytes = rng.bytes(start + count * length + 5);
      // Runs of equal messages, of messages that differ in one bit, and of zeros.
      for (let i = 1; i < count; i++) {
        const from = start + i * length;
        if (rng.chance(0.6)) bytes.copyWithin(from, from - length, from);
        if (rng.chance(0.05)) bytes.fill(0, from, from + length);
        if (rng.chance(0.2)) bytes[from + rng.int(0, length - 1)] = rng.int(0, 255);
        alike += Number(
          toHex(bytes.subarray(from - length, from)) === toHex(bytes.subarray(from, from + length)),
        );
      }
      const out = new Uint8Array(at + 32 * count + 3).fill(7);
      hashMessages(out, at, bytes, start, count, length);
      const expected = Array.from({ length: count }, (_, i) =>
        toHex(keccak_256(bytes.subarray(start + i * length, start + (i + 1) * length))),
      );
      const found = Array.from({ length: count }, (_, i) =>
        toHex(out.subarray(at + 32 * i, at + 32 * (i + 1))),
      );
      expect(found).toEqual(expected);
      expect([...out.subarray(0, at), ...out.subarray(at + 32 * count)]).toEqual(new Array(at + 3).fill(7));
    }
    expect(alike).toBeGreaterThan(500);
  });

  it.each(lengths)("behavior: what a call before left does not count, for %i bytes", (length) => {
    const [zeros, out] = [new Uint8Array(2 * length), new Uint8Array(64)];
    const hash = toHex(keccak_256(zeros.subarray(length)));
    for (const first of [Uint8Array.of(1), Uint8Array.of()]) {
      hashMessages(out, 0, Uint8Array.from([...first, ...zeros]).subarray(0, length), 0, 1, length);
      hashMessages(out, 0, zeros, 0, 2, length);
      expect([toHex(out.subarray(0, 32)), toHex(out.subarray(32))]).toEqual([hash, hash]);
    }
  });
});
