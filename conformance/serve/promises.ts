/** The lines about promises: digests, signatures, leaves and batches. */
import { toHex } from "../../base/bytes.ts";
import { keccak256 } from "../../inference/commit/keccak.ts";
import { outputLength } from "../../inference/program/shape.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { type Batch, batchIdOf, batchTree, isInBatch } from "../../protocol/rules/promises/batch.ts";
import { compactLeaf, expandLeaf, type LeafModel, splitBatch } from "../../protocol/rules/promises/leaf.ts";
import { signerOf } from "../../protocol/rules/promises/signature.ts";
import {
  type Digest,
  digestOf,
  type PromisesAddress,
  type SignedClaim,
} from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { joined, packed } from "../lines.ts";
import { CHAIN_ID_BITS } from "./game.ts";
import { refuseLine, type Words } from "./words.ts";

const placeOf = (words: Words): PromisesAddress => ({
  chainId: words.number(CHAIN_ID_BITS),
  promises: words.hex(20),
});

const signedOf = (words: Words): SignedClaim => ({
  prover: words.hex(20),
  modelId: words.hex(32) as ModelId,
  inputHash: words.hex(32),
  outputHash: words.hex(32),
  requester: words.hex(20),
  issuedAt: words.number(40),
  expiry: words.number(40),
  minBond: words.bigint(96),
  salt: words.bigint(64),
});

/** What a leaf depends on, of a program and its selector. */
function leafModelOf(words: Words): LeafModel {
  const program = readProgram(words.bytes());
  return { ...program, selector: Number(words.hex(4)), outputLength: outputLength(program) };
}

export const digestLine = (words: Words): string[] => [digestOf(placeOf(words), signedOf(words))];

export async function signerLine(words: Words): Promise<string[]> {
  const digest = words.hex(32) as Digest;
  return [(await signerOf(digest, toHex(words.bytes()))).toLowerCase()];
}

export function expandLine(words: Words): string[] {
  const model = leafModelOf(words);
  const leaf = words.bytes();
  const { input, output } = expandLeaf(model, leaf);
  return [input, output, keccak256(leaf)].map(toHex);
}

export function compactLine(words: Words): string[] {
  const model = leafModelOf(words);
  return [toHex(compactLeaf(model, { input: words.bytes(), output: words.bytes() }))];
}

export function batchLine(words: Words): string[] {
  const model = leafModelOf(words);
  const place = placeOf(words);
  const [prover, modelId, window] = [words.hex(20), words.hex(32) as ModelId, words.number(32)];
  const leaves = splitBatch(model, words.bytes());
  const root = toHex(batchTree(leaves).root);
  const batch: Batch = { prover, modelId, window, count: leaves.length, root };
  return [packed(leaves.length, 2), root, batchIdOf(place, batch)];
}

export function pathLine(words: Words): string[] {
  const leaves = splitBatch(leafModelOf(words), words.bytes());
  const index = words.number(16);
  const path = batchTree(leaves).pathOf(index);
  return [toHex(leaves[index] as Uint8Array), joined(path)];
}

export function memberLine(words: Words): string[] {
  const batch = { count: words.number(16), root: words.hex(32) };
  const isMember = isInBatch(batch, words.number(16), words.bytes(), words.words());
  return isMember ? [] : refuseLine("root of the leaf", "another", batch.root);
}
