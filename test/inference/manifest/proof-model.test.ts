import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { modelId } from "../../../inference/commit/commitments.ts";
import { proofModelIdentity } from "../../../inference/manifest/proof-model.ts";

describe("proofModelIdentity", () => {
  it("default", () => {
    const vkHash = new Uint8Array(32).with(31, 9);
    const identity = proofModelIdentity(fromHex("0x11223344"), 100, 15, vkHash);
    expect([identity.maxCalldata, identity.outputLength, identity.lanes]).toEqual([292, 480, 2]);
    // What the registry computes: test/contracts/registry/ProofModels.t.sol.
    expect(toHex(modelId(identity))).toBe(
      "0xa4957058be45ad1da97ddc35b394d0fcfd795c2cdcd3c408e54feace5fe5785a",
    );
  });
});
