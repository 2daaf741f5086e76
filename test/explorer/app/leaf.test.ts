import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { modelFolder } from "../../../cli/model-source.ts";
import { checkPlace, type LeafProof, leafModelOf } from "../../../explorer/app/verify/leaf.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import { proveLeaf } from "../../../protocol/chain/promises/prove-leaf.ts";
import { batchIdOf } from "../../../protocol/rules/promises/batch.ts";
import { accountAt } from "../../support/anvil.ts";
import { sentimentPromises } from "../../support/promises/sentiment-promises.ts";

const MODEL = loadModelFolder(modelFolder("sentiment"));
const AT = { chainId: 31_337, promises: accountAt(8).address };
const made = sentimentPromises(MODEL, AT);
const word = leafModelOf(MODEL.model.program, MODEL.selector);

function proofOf(count: number, index: number) {
  const { batch, posting } = made.batch(accountAt(1), 0, count, [], 1_200);
  const { payload, path, input, output } = proveLeaf(made.leafModel, batch, fromHex(posting.data), index);
  return { id: batchIdOf(AT, batch), proof: { batch, index, payload, path: [...path] }, input, output };
}

/** Another last digit. */
const turned = (hex: string): string => hex.slice(0, -1) + (hex.endsWith("0") ? "1" : "0");

describe("checkPlace", () => {
  it("default: every leaf of batches of any size stands in its own, and holds what was put in", () => {
    expect(word).toEqual(made.leafModel);
    for (const count of [1, 2, 3, 5, 8]) {
      for (let index = 0; index < count; index++) {
        const { id, proof, input, output } = proofOf(count, index);
        const place = checkPlace(AT, id, word, proof);
        expect(place).toMatchObject({ isInBatch: true, isOfId: true, input, output });
        expect(place.nodes.at(-1)).toBe(proof.batch.root);
        expect(input).toBe(toHex(made.answer(index).input));
      }
    }
  });

  it("error: a leaf of another place, a changed byte of leaf, path or batch, another id, chain or contract", () => {
    const { id, proof } = proofOf(5, 1);
    const { path, batch, payload } = proof;
    const isThere = (changed: Partial<LeafProof>, at = AT, ofId = id): boolean => {
      const { isInBatch, isOfId } = checkPlace(at, ofId, word, { ...proof, ...changed });
      return isInBatch && isOfId;
    };
    expect(isThere({})).toBe(true);
    const fields = { window: 1_201, count: 6, prover: accountAt(2).address, modelId: turned(batch.modelId) };
    const wrong: readonly (readonly [string, boolean])[] = [
      ["index", isThere({ index: 0 })],
      ["payload", isThere({ payload: turned(payload) })],
      ...path.map(
        (_, i) => [`path ${i}`, isThere({ path: path.with(i, turned(path[i] as string) as never) })] as const,
      ),
      ["shorter path", isThere({ path: path.slice(1) })],
      ["longer path", isThere({ path: [...path, path[0] as never] })],
      ["root", isThere({ batch: { ...batch, root: turned(batch.root) as never } })],
      ...Object.entries(fields).map(
        ([name, value]) => [name, isThere({ batch: { ...batch, [name]: value } })] as const,
      ),
      ["id", isThere({}, AT, turned(id) as never)],
      ["chain", isThere({}, { ...AT, chainId: 1 })],
      ["contract", isThere({}, { ...AT, promises: accountAt(7).address })],
    ];
    expect(wrong.filter(([, isIn]) => isIn)).toEqual([]);
    expect(wrong).toHaveLength(15);
  });
});
