import { createMerkleProof, createMPT } from "@ethereumjs/mpt";
import fc from "fast-check";
import { type Hex, keccak256, toRlp } from "viem";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { Witness } from "../../../protocol/rules/receipt/trie.ts";

/** Keys are hashed by the trie; values of one byte stand inside their parents, long ones do not. */
const entries = fc.uniqueArray(fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 60 })), {
  selector: ([key]) => key,
  minLength: 1,
  maxLength: 80,
});
const keyOf = (key: number): Uint8Array => Uint8Array.of(key >> 8, key & 255);
const pathOf = (key: number): Hex => keccak256(keyOf(key));

/** The trie of another implementation, and its own proof for a key. */
async function trieOf(pairs: readonly (readonly [number, number])[]) {
  const trie = await createMPT({ useKeyHashing: true });
  for (const [key, length] of pairs) await trie.put(keyOf(key), new Uint8Array(length).fill(key | 1));
  const proofOf = async (key: number) => (await createMerkleProof(trie, keyOf(key))).map(toHex);
  return { root: toHex(trie.root()), proofOf };
}

describe("Witness", () => {
  it("default: reads what another implementation proves, present and absent", async () => {
    await fc.assert(
      fc.asyncProperty(entries, fc.nat(400), async (pairs, key) => {
        const { root, proofOf } = await trieOf(pairs);
        const held = pairs.find(([at]) => at === key);
        const expected = held === undefined ? undefined : toHex(new Uint8Array(held[1]).fill(key | 1));
        expect(new Witness(await proofOf(key)).read(root, pathOf(key))).toBe(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("error: no node can be left out or changed", async () => {
    const pairs = Array.from({ length: 60 }, (_, key) => [key, 40] as const);
    const { root, proofOf } = await trieOf(pairs);
    for (const key of [7, 300]) {
      const nodes = await proofOf(key);
      expect(nodes.length).toBeGreaterThan(1);
      for (const [index, node] of nodes.entries()) {
        const others = nodes.filter((_, at) => at !== index);
        const bytes = fromHex(node);
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
        for (const witness of [others, [...others, toHex(bytes)]]) {
          expect(() => new Witness(witness).read(root, pathOf(key))).toThrow(
            expect.objectContaining({ code: "RECEIPT_UNPROVEN" }),
          );
        }
      }
    }
  });

  it("behavior: a trie without keys holds nothing", () => {
    expect(new Witness([]).read(keccak256("0x80"), pathOf(1))).toBeUndefined();
  });

  it.each([
    ["of three parts", toRlp(["0x", "0x", "0x"])],
    ["that is no list", toRlp("0x1234")],
    ["that is no RLP", "0xf8"],
    ["with an unknown mark", toRlp(["0x60", "0x01"])],
    ["that extends by nothing", toRlp(["0x00", `0x${"11".repeat(32)}`])],
    ["whose child is no hash", toRlp(["0x1a", "0x1234"])],
    ["that is a leaf with a node", toRlp(["0x20", ["0x", "0x"]])],
  ] as const)("error: a node %s", (_what, node) => {
    expect(() => new Witness([node]).read(keccak256(node), `0x${"aa".repeat(32)}`)).toThrow(
      expect.objectContaining({ code: "RECEIPT_MALFORMED" }),
    );
  });
});
