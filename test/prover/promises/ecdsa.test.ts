import { randomBytes } from "node:crypto";
import { numberToBytes } from "viem";
import { sign } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { signDigest } from "../../../prover/promises/signing/ecdsa.ts";
import { SIGNER_KEY } from "../../support/promises/signing-drafts.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const word = (value: bigint): Uint8Array => numberToBytes(value, { size: 32 });
const plain = (digest: Uint8Array, key: Uint8Array): Promise<Uint8Array> =>
  sign({ hash: toHex(digest), privateKey: toHex(key), to: "bytes" });

describe("signDigest", () => {
  it("default: the bytes that viem signs, of random keys and digests", async () => {
    const counts = { 27: 0, 28: 0 };
    for (let i = 0; i < 400; i++) {
      const [digest, key] = [randomBytes(32), randomBytes(32)];
      const signature = signDigest(digest, key);
      expect(toHex(signature), `digest ${toHex(digest)}, key ${toHex(key)}`).toBe(
        toHex(await plain(digest, key)),
      );
      counts[signature[64] as 27 | 28] += 1;
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(100);
  });

  it.each([1n, 2n, ORDER / 2n, ORDER - 2n, ORDER - 1n])("behavior: the same with key %i", async (number) => {
    const key = word(number);
    for (const digest of [1n, 2n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n, 0n].map(word))
      expect(toHex(signDigest(digest, key))).toBe(toHex(await plain(digest, key)));
  });

  it.each([
    ["a key of zero", word(0n)],
    ["a key of the order", word(ORDER)],
    ["a short key", new Uint8Array(31).fill(1)],
  ])("error: %s", (_what, key) => {
    expect(() => signDigest(word(1n), key)).toThrow("Private");
  });

  it("error: a short digest", () => {
    expect(() => signDigest(new Uint8Array(31), fromHex(SIGNER_KEY))).toThrow("Hash");
  });
});
