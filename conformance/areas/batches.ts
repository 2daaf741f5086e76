/** Leaves, and batches of them (docs/PROMISES.md, section 7). */

import { keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import { keccak256 as hash } from "../../inference/commit/keccak.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { INPUT_CODECS } from "../../inference/program/form.ts";
import { outputLength } from "../../inference/program/shape.ts";
import {
  type Batch,
  batchIdOf,
  batchTree,
  isInBatch,
  joinLeaves,
} from "../../protocol/rules/promises/batch.ts";
import {
  compactLeaf,
  expandLeaf,
  type LeafContent,
  type LeafModel,
  leafBytes,
  splitBatch,
} from "../../protocol/rules/promises/leaf.ts";
import { PROMISE_LIMITS } from "../../protocol/rules/promises/limits.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { type Area, type Case, refusedCase, wordCase } from "../case.ts";
import { breakCalldata } from "../generate/mutations.ts";
import { randomLeaf } from "../generate/random-leaf.ts";
import { randomProgram } from "../generate/random-program.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { rawInput, rawProgram } from "../generate/small-programs.ts";
import { joined, packed } from "../lines.ts";
import { amount, randomAddress, randomHash } from "./game.ts";
import { placeWords, randomPlace } from "./signed-claims.ts";
import { attempt } from "./structure.ts";

/** A program of small leaves, or of any. */
function leafProgram(rng: Rng, seed: number) {
  if (rng.chance(0.3)) {
    const dims = [rng.int(1, 3)];
    const program = rawProgram(rng.int(dims[0] as number, 5), [rawInput("u8", dims)]);
    return { ...program, outputCodec: rng.pick(["words", "words", "raw"] as const) };
  }
  const inputCodec = INPUT_CODECS[seed % INPUT_CODECS.length] as (typeof INPUT_CODECS)[number];
  return randomProgram(rng, { hostile: true, steps: rng.int(0, 1), inputCodec }).model.program;
}

/** Bytes of a batch of many leaves. */
const MOST_BYTES = 20_000;

export const BATCHES: Area = {
  name: "batches",
  about: "leaves both ways, batches of them, paths; lengths, padding and bits changed, a leaf too many",
  lines: ["expand", "compact", "batch", "path", "member"],
  *cases(seed) {
    const rng = createRng(seed);
    const program = leafProgram(rng, seed);
    const selector = rng.bytes(4);
    const model = { ...program, selector: Number(toHex(selector)), outputLength: outputLength(program) };
    const words = [encodeProgram(program), selector].map(toHex);
    const leaf = randomLeaf(rng, model);
    yield expandCase(words, model, leaf);
    yield expandCase(words, model, leaf.slice(0, rng.int(0, leaf.length)));
    yield expandCase(words, model, Uint8Array.of(...leaf.subarray(0, 64), ...leaf));
    const content = expandLeaf(model, leaf);
    yield compactCase(words, model, content);
    yield compactCase(words, model, {
      ...content,
      input: breakCalldata(rng, { calldata: content.input, selector }),
    });
    for (const output of changedOutputs(rng, content.output))
      yield compactCase(words, model, { ...content, output });
    yield* treeCases(rng, words, model);
  },
};

/** An output with a bit turned, in its head if it has one, behind it and among the highest bits; longer and shorter. */
function changedOutputs(rng: Rng, output: Uint8Array): Uint8Array[] {
  const head = output.slice();
  head[rng.int(0, Math.min(63, output.length - 1))] = rng.int(0, 255);
  return [turnedBytes(rng, output), head, output.slice(0, -rng.int(1, 32)), Uint8Array.of(...output, 0)];
}

/** What would be a leaf if the model took a byte more. */
function longText(rng: Rng, model: LeafModel): Uint8Array {
  const length = model.inputSize + 1;
  return Uint8Array.of(length >> 8, length & 255, ...rng.bytes(leafBytes(model) - 2 + length));
}

function turnedBytes(rng: Rng, bytes: Uint8Array): Uint8Array {
  const bit = rng.int(0, 8 * bytes.length - 1);
  return bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}

function* treeCases(rng: Rng, words: readonly string[], model: LeafModel): Iterable<Case> {
  const one = leafBytes(model) + (model.inputCodec === "text" ? model.inputSize : 0);
  const many = Math.floor(MOST_BYTES / one);
  const counts = [1, 2, 3, rng.int(1, 9), rng.int(1, 40)].filter((count) => count <= Math.max(1, many));
  const count =
    many > PROMISE_LIMITS.maxLeaves && rng.chance(0.3)
      ? PROMISE_LIMITS.maxLeaves + rng.int(-1, 1)
      : rng.pick(counts);
  const leaves = Array.from({ length: count }, () => randomLeaf(rng, model));
  const data = joinLeaves(leaves);
  yield batchCase(rng, words, model, data);
  yield batchCase(rng, words, model, data.slice(0, rng.int(0, data.length)));
  yield batchCase(rng, words, model, Uint8Array.of(...data, ...rng.bytes(rng.int(1, 40))));
  if (model.inputCodec === "text") yield batchCase(rng, words, model, longText(rng, model));
  const tree = attempt(() => batchTree(leaves));
  for (const index of [rng.int(0, count - 1), count - 1, count, rng.int(count, 65_535)])
    yield pathCase(words, leaves, index);
  if (tree === undefined) return;
  const index = rng.int(0, count - 1);
  const [leaf, path] = [leaves[index] as Uint8Array, tree.pathOf(index)];
  const batch = { count, root: toHex(tree.root) };
  yield memberCase(batch, index, leaf, path);
  yield memberCase(batch, index ^ 1, leaf, path);
  yield memberCase(batch, index + 2 ** path.length, leaf, path);
  yield memberCase(batch, index, turnedBytes(rng, leaf), path);
  yield memberCase(batch, index, leaf, path.slice(1));
  yield memberCase(batch, index, leaf, [...path, new Uint8Array(32)]);
  yield memberCase({ ...batch, count: rng.int(0, 2 * count) }, index, leaf, path);
  // An inner node, whose two children are bytes of a "leaf".
  const [sibling] = path;
  if (sibling === undefined) return;
  const pair = index & 1 ? [sibling, hash(leaf)] : [hash(leaf), sibling];
  const half = { ...batch, count: Math.ceil(count / 2) };
  for (const of of [batch, half]) yield memberCase(of, index >> 1, joinLeaves(pair), path.slice(1));
}

function expandCase(words: readonly string[], model: LeafModel, leaf: Uint8Array): Case {
  const line = ["expand", ...words, toHex(leaf)] as const;
  const found = attempt(() => expandLeaf(model, leaf));
  if (found === undefined) return refusedCase(line);
  const answer = [...[found.input, found.output].map(toHex), keccak256(leaf)];
  return wordCase(line, answer, ["calldata", "return data", "leaf's node"]);
}

function compactCase(words: readonly string[], model: LeafModel, content: LeafContent): Case {
  const line = ["compact", ...words, toHex(content.input), toHex(content.output)] as const;
  const found = attempt(() => compactLeaf(model, content));
  return found === undefined ? refusedCase(line) : wordCase(line, [toHex(found)], ["leaf"]);
}

function batchCase(rng: Rng, words: readonly string[], model: LeafModel, data: Uint8Array): Case {
  const place = randomPlace(rng);
  const [prover, modelId] = [randomAddress(rng), randomHash(rng) as ModelId];
  const window = Number(amount(rng, 4));
  const line = [
    "batch",
    ...words,
    ...placeWords(place),
    ...[prover, modelId, packed(window, 4), toHex(data)],
  ] as const;
  const leaves = attempt(() => splitBatch(model, data));
  const tree = leaves && attempt(() => batchTree(leaves));
  if (tree === undefined || leaves === undefined) return refusedCase(line);
  const batch: Batch = { prover, modelId, window, count: leaves.length, root: toHex(tree.root) };
  const answer = [packed(batch.count, 2), batch.root, batchIdOf(place, batch)];
  return wordCase(line, answer, ["leaves", "root", "batch id"]);
}

function pathCase(words: readonly string[], leaves: readonly Uint8Array[], index: number): Case {
  const line = ["path", ...words, toHex(joinLeaves(leaves)), packed(index, 2)] as const;
  const path = attempt(() => batchTree(leaves).pathOf(index));
  if (path === undefined) return refusedCase(line);
  return wordCase(line, [toHex(leaves[index] as Uint8Array), joined(path)], ["leaf", "path"]);
}

function memberCase(
  batch: Pick<Batch, "count" | "root">,
  index: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): Case {
  const line = [
    ...(["member", packed(batch.count, 2), batch.root, packed(index, 2)] as const),
    ...[toHex(leaf), joined(path)],
  ] as const;
  const isMember = attempt(() => isInBatch(batch, index, leaf, path)) === true;
  return isMember ? { line, expected: [], elements: 1 } : refusedCase(line);
}
