import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromHex } from "../../../../base/bytes.ts";
import { loadProofModel } from "../../../../prover/proof/ezkl/folder.ts";
import { assertPure } from "../../../../prover/proof/ezkl/pure-code.ts";
import { projectRoot } from "../../../../tools/foundry.ts";

/** A STATICCALL, so that only what follows is at fault. */
const code = (rest: string): Uint8Array => fromHex(`0xfa${rest}`);

describe("assertPure", () => {
  it("default", () => {
    const { verifier } = loadProofModel(join(projectRoot, "models/forecast-ezkl"));
    assertPure(fromHex(verifier.code));
  });

  it("behavior: bytes that a PUSH reads are no opcodes", () => {
    assertPure(code("6054617f54"));
  });

  it("behavior: constants behind the code never run", () => {
    assertPure(code("fe30644e72"));
    assertPure(code("f354"));
  });

  it.each([
    ["5f54", "SLOAD", 2],
    ["f4", "DELEGATECALL", 1],
    ["46", "CHAINID", 1],
    // The STOP ends a block; a jump can land behind it.
    ["005b42", "TIMESTAMP", 3],
    ["61545455", "SSTORE", 4],
  ])("error: %s", (bytes, name, offset) => {
    expect(() => assertPure(code(bytes))).toThrow(`The verifier has ${name} at byte ${offset}:`);
  });

  it("error: no call of a precompile", () => {
    expect(() => assertPure(fromHex("0x60015f5260205ff3"))).toThrow("so it checks no pairing");
    expect(() => assertPure(fromHex("0xfefa"))).toThrow("so it checks no pairing");
  });
});
