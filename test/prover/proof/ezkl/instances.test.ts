import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type Address, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../../base/bytes.ts";
import { ezklBinding } from "../../../../protocol/rules/proof/public-signals.ts";
import {
  bindingNumbers,
  encodeCalldata,
  encodeEvidence,
  FIELD_ORDER,
  inputNumbers,
  outputBytes,
  outputNumbers,
  signedElement,
} from "../../../../prover/proof/ezkl/instances.ts";
import { projectRoot } from "../../../../tools/foundry.ts";
import { windowNumbers } from "../../../support/make-ezkl-vectors.ts";

interface Vector {
  readonly chainId: number;
  readonly adapter: Address;
  readonly submitter: Address;
  readonly modelId: Hex;
  readonly binding: Hex;
  readonly selector: Hex;
  readonly input: Hex;
  readonly output: Hex;
}
const vector = JSON.parse(readFileSync(join(projectRoot, "test/vectors/ezkl.json"), "utf8")) as Vector;

describe("ezklBinding", () => {
  const stated = { ...vector, proofLane: vector.adapter };

  it("default", () => {
    expect(numberToHex(ezklBinding(stated), { size: 32 })).toBe(vector.binding);
  });

  it("behavior: another chain, adapter, model or submitter is another binding", () => {
    const other = "0x00000000000000000000000000000000000000dd";
    const changed = [
      { ...stated, chainId: 1 },
      { ...stated, proofLane: other },
      { ...stated, submitter: other },
      { ...stated, modelId: vector.binding },
    ] as const;
    expect(new Set([stated, ...changed].map(ezklBinding)).size).toBe(5);
  });
});

describe("bindingNumbers", () => {
  it("default", () => {
    expect(bindingNumbers(0x0001_ffff_8000n)).toEqual([...Array(13).fill(0), 1, -1, -32_768]);
  });

  it("behavior: keeps every bit", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 248n - 1n }), (binding) => {
        const whole = bindingNumbers(binding).reduce(
          (word, n) => (word << 16n) | BigInt.asUintN(16, BigInt(n)),
          0n,
        );
        expect(whole).toBe(binding);
      }),
      { seed: 1 },
    );
  });
});

describe("encodeCalldata", () => {
  it("default", () => {
    expect(toHex(encodeCalldata(fromHex(vector.selector), windowNumbers()))).toBe(vector.input);
    expect(inputNumbers(fromHex(vector.selector), fromHex(vector.input), 512)).toEqual(windowNumbers());
  });

  it("error: a number beyond the last", () => {
    const calldata = encodeCalldata(fromHex(vector.selector), [1, 2, 3]);
    expect(() => inputNumbers(calldata.subarray(0, 4), calldata, 2)).toThrow(
      "unused number 2 is 3, must be 0.",
    );
  });
});

describe("signedElement", () => {
  it("default", () => {
    expect([0n, 5n, FIELD_ORDER - 1n, FIELD_ORDER - 32_768n].map(signedElement)).toEqual([
      0n,
      5n,
      -1n,
      -32_768n,
    ]);
  });
});

describe("outputBytes", () => {
  it("default", () => {
    const numbers = outputNumbers(fromHex(vector.output));
    expect(numbers).toHaveLength(96);
    expect(toHex(outputBytes(numbers))).toBe(vector.output);
  });

  it("behavior: two's complement in 32 bytes", () => {
    const limit = 2n ** 127n;
    const numbers = [0n, -1n, limit - 1n, -limit];
    const words = ["00".repeat(32), "ff".repeat(32), `${"00".repeat(16)}7f${"ff".repeat(15)}`];
    const last = `${"ff".repeat(16)}80${"00".repeat(15)}`;
    expect(toHex(outputBytes(numbers))).toBe(`0x${words.join("")}${last}`);
    expect(outputNumbers(outputBytes(numbers))).toEqual(numbers);
  });

  it("error: outside of 128 bits", () => {
    expect(() => outputBytes([1n, 2n ** 127n])).toThrow(
      /^Output 1 is 170141183460469231731687303715884105728,/,
    );
    expect(() => outputBytes([-(2n ** 127n) - 1n])).toThrow(/outside of 128 bits/);
  });
});

describe("encodeEvidence", () => {
  it("default", () => {
    expect(encodeEvidence(vector.adapter, "0x0102")).toBe(`${vector.adapter}0102`);
  });
});
