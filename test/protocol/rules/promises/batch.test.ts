import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import { randomLeaf } from "../../../../conformance/generate/random-leaf.ts";
import { INPUT_CODECS, OUTPUT_CODECS } from "../../../../inference/program/form.ts";
import { batchTree, isInBatch, joinLeaves } from "../../../../protocol/rules/promises/batch.ts";
import { compactLeaf, expandLeaf, splitBatch } from "../../../../protocol/rules/promises/leaf.ts";
import { leafModel, promiseVectorFiles } from "../../../support/promise-vectors.ts";
import { createRng } from "../../../support/rng.ts";

describe("promise vectors", () => {
  it("default: the files that Solidity reads are what this code says today", () => {
    for (const [name, text] of Object.entries(promiseVectorFiles())) {
      expect(readFileSync(join(import.meta.dirname, "../../../vectors", `${name}.json`), "utf8")).toBe(text);
    }
  });
});

describe("compactLeaf", () => {
  const rng = createRng(5);
  const models = INPUT_CODECS.flatMap((_, i) => OUTPUT_CODECS.map((_, o) => leafModel(rng, i, o).model));

  it("default: any bytes of the right length are the leaf of what they expand to", () => {
    for (const model of models) {
      for (let i = 0; i < 20; i++) {
        const leaf = randomLeaf(rng, model);
        const content = expandLeaf(model, leaf);
        expect(content.output.length).toBe(model.outputLength);
        expect(toHex(compactLeaf(model, content))).toBe(toHex(leaf));
      }
    }
  });

  it("error: a number that does not fit", () => {
    const { model } = leafModel(createRng(1), 1, 0);
    const content = expandLeaf(model, randomLeaf(rng, model));
    // The first byte of the first close.
    content.input[4 + 96 + 32] = 1;
    expect(() => compactLeaf(model, content)).toThrowError(
      expect.objectContaining({ code: "LEAF_NOT_COMPACT" }),
    );
  });

  it("error: an output of another length", () => {
    const { model } = leafModel(createRng(1), 0, 0);
    const { input, output } = expandLeaf(model, randomLeaf(rng, model));
    expect(() => compactLeaf(model, { input, output: output.subarray(1) })).toThrowError(
      expect.objectContaining({ code: "OUTPUT_LENGTH_WRONG" }),
    );
  });
});

describe("splitBatch", () => {
  const rng = createRng(6);

  it("default: the leaves that were joined", () => {
    for (const [i] of INPUT_CODECS.entries()) {
      const { model } = leafModel(rng, i, i % 3);
      const payloads = Array.from({ length: rng.int(1, 40) }, () => randomLeaf(rng, model));
      expect(splitBatch(model, joinLeaves(payloads)).map(toHex)).toEqual(payloads.map(toHex));
    }
  });

  it("error: data that end within a leaf, and a text that is too long", () => {
    const { model } = leafModel(rng, 0, 0);
    const data = randomLeaf(rng, model);
    const refused = expect.objectContaining({ code: "LEAF_LENGTH_WRONG" });
    expect(() => splitBatch(model, data.subarray(0, data.length - 1))).toThrowError(refused);
    expect(() => splitBatch(model, Uint8Array.of(255, 255))).toThrowError(refused);
    expect(() => expandLeaf(model, Uint8Array.of(...data, 0))).toThrowError(refused);
  });
});

describe("batchTree", () => {
  const rng = createRng(7);

  it.each([1, 2, 3, 4, 5, 8, 9, 31, 1024])("args: %i leaves, each with its path", (count) => {
    const payloads = Array.from({ length: count }, () => rng.bytes(rng.int(1, 40)));
    const tree = batchTree(payloads);
    const batch = { count, root: toHex(tree.root) };
    for (const index of [0, count - 1, rng.int(0, count - 1)]) {
      const path = tree.pathOf(index);
      const payload = payloads[index] as Uint8Array;
      expect(isInBatch(batch, index, payload, path)).toBe(true);
      expect(isInBatch(batch, index, Uint8Array.of(...payload, 0), path)).toBe(false);
      expect(isInBatch(batch, index, payload, [...path, tree.root])).toBe(false);
      if (count > 1) {
        expect(isInBatch(batch, (index + 1) % count, payload, path)).toBe(false);
        expect(isInBatch(batch, index, payload, path.slice(1))).toBe(false);
      }
    }
  });

  it("error: no leaf, too many, and an index outside", () => {
    const refused = expect.objectContaining({ code: "LEAF_COUNT_OUT_OF_RANGE" });
    expect(() => batchTree([])).toThrowError(refused);
    expect(() => batchTree(Array.from({ length: 1025 }, () => new Uint8Array(1)))).toThrowError(refused);
    expect(() => batchTree([new Uint8Array(1)]).pathOf(1)).toThrowError(
      expect.objectContaining({ code: "LEAF_OUTSIDE" }),
    );
  });
});
