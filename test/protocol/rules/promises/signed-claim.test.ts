import { hashTypedData } from "viem";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import {
  digestOf,
  type PromisesAddress,
  type SignedClaim,
  typedSignedClaim,
} from "../../../../protocol/rules/promises/signed-claim.ts";
import { createRng, type Rng } from "../../../support/rng.ts";

const CASES = 500;
const FIELDS = { chainId: 31, issuedAt: 40, expiry: 40, minBond: 96, salt: 64 } as const;

/** Of so many bits, often at an edge. */
function number(rng: Rng, bits: number): bigint {
  const most = (1n << BigInt(bits)) - 1n;
  const edges = [0n, 1n, most, most - 1n, 1n << BigInt(rng.int(0, bits - 1))];
  return rng.int(0, 2) === 0 ? (edges[rng.int(0, 4)] as bigint) : BigInt(toHex(rng.bytes(16))) & most;
}

function drawn(rng: Rng): { readonly at: PromisesAddress; readonly claim: SignedClaim } {
  const hash = () => toHex(rng.bytes(32));
  const address = () => (rng.int(0, 5) === 0 ? (`0x${"00".repeat(20)}` as const) : toHex(rng.bytes(20)));
  return {
    at: { chainId: Number(number(rng, FIELDS.chainId)), promises: address() },
    claim: {
      ...{ prover: address(), modelId: hash() as SignedClaim["modelId"], inputHash: hash() },
      ...{ outputHash: hash(), requester: address() },
      ...{ issuedAt: Number(number(rng, 40)), expiry: Number(number(rng, 40)) },
      ...{ minBond: number(rng, 96), salt: number(rng, 64) },
    },
  };
}

describe("digestOf", () => {
  it("default: what a wallet signs, by a general encoder of EIP-712", () => {
    const rng = createRng(712);
    for (let i = 0; i < CASES; i++) {
      const { at, claim } = drawn(rng);
      expect(digestOf(at, claim)).toBe(hashTypedData(typedSignedClaim(at, claim)));
    }
  });

  it("args: every field and every part of the place counts", () => {
    const { at, claim } = drawn(createRng(1));
    const digests = new Set([digestOf(at, claim)]);
    digests.add(digestOf({ ...at, chainId: at.chainId ^ 1 }, claim));
    digests.add(digestOf({ ...at, promises: claim.prover }, claim));
    for (const name of Object.keys(claim) as (keyof SignedClaim)[]) {
      const value = claim[name];
      const other =
        typeof value === "bigint"
          ? value ^ 1n
          : typeof value === "number"
            ? value + 1
            : `${value.slice(0, -1)}${value.endsWith("1") ? "2" : "1"}`;
      digests.add(digestOf(at, { ...claim, [name]: other }));
    }
    expect(digests.size).toBe(3 + Object.keys(claim).length);
  });
});
