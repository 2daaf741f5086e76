/** Vectors of promises for TypeScript and Solidity: `tsx test/support/promise-vectors.ts` writes
 *  test/vectors/signed-claims.json and test/vectors/batches.json, which test/contracts/promises/PromiseVectors.t.sol
 *  reads. Digests and ids come from viem, leaves and trees from protocol/rules/promises. One struct a line:
 *
 *      struct SignedVector { uint256 chainId; address promises; SignedClaim signed; bytes32 digest; }
 *      struct BatchVector { uint256 modelWord; uint256 chainId; address promises; Batch batch; bytes32 batchId;
 *                           bytes data; uint256 index; bytes payload; bytes32[] path; bytes input; bytes output; } */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Address, encodeAbiParameters, type Hex, parseAbiParameters } from "viem";
import { toHex } from "../../base/bytes.ts";
import { randomLeaf } from "../../conformance/generate/random-leaf.ts";
import { INPUT_CODEC_CODES, OUTPUT_CODEC_CODES } from "../../inference/program/codes.ts";
import { INPUT_CODECS, OUTPUT_CODECS } from "../../inference/program/form.ts";
import { batchIdOf, batchTree, joinLeaves } from "../../protocol/rules/promises/batch.ts";
import { expandLeaf, type LeafModel } from "../../protocol/rules/promises/leaf.ts";
import {
  digestOf,
  type PromisesAddress,
  type SignedClaim,
} from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { decodeModelWord } from "../../protocol/rules/words.ts";
import { createRng, type Rng } from "./rng.ts";

const SIGNED = parseAbiParameters([
  "SignedVector vector",
  "struct SignedVector { uint256 chainId; address promises; SignedClaim signed; bytes32 digest; }",
  "struct SignedClaim { address prover; bytes32 modelId; bytes32 inputHash; bytes32 outputHash; address requester; uint40 issuedAt; uint40 expiry; uint96 minBond; uint64 salt; }",
]);
const BATCH = parseAbiParameters([
  "BatchVector vector",
  "struct BatchVector { uint256 modelWord; uint256 chainId; address promises; Batch batch; bytes32 batchId; bytes data; uint256 index; bytes payload; bytes32[] path; bytes input; bytes output; }",
  "struct Batch { address prover; bytes32 modelId; uint32 window; uint16 count; bytes32 root; }",
]);

const hash = (rng: Rng): Hex => toHex(rng.bytes(32));
const address = (rng: Rng): Address => toHex(rng.bytes(20));
const number = (rng: Rng, bits: number): bigint => BigInt(toHex(rng.bytes(bits / 8)));
const place = (rng: Rng): PromisesAddress => ({ chainId: rng.int(1, 2 ** 31), promises: address(rng) });

export function signedVectors(count: number): Hex[] {
  const rng = createRng(22);
  return Array.from({ length: count }, () => {
    const at = place(rng);
    const signed: SignedClaim = {
      prover: address(rng),
      modelId: hash(rng) as ModelId,
      inputHash: hash(rng),
      outputHash: hash(rng),
      requester: address(rng),
      issuedAt: Number(number(rng, 40)),
      expiry: Number(number(rng, 40)),
      minBond: number(rng, 96),
      salt: number(rng, 64),
    };
    return encodeAbiParameters(SIGNED, [
      { chainId: BigInt(at.chainId), promises: at.promises, signed, digest: digestOf(at, signed) },
    ]);
  });
}

/** A model of these codecs. */
export function leafModel(rng: Rng, input: number, output: number): { word: bigint; model: LeafModel } {
  const inputCodec = INPUT_CODECS[input] as (typeof INPUT_CODECS)[number];
  const outputCodec = OUTPUT_CODECS[output] as (typeof OUTPUT_CODECS)[number];
  const fields: readonly (readonly [offset: number, value: number])[] = [
    [0, 1],
    [8, 4],
    [64, rng.int(0, 2 ** 32 - 1)],
    [128, 32 * rng.int(1, 4) + (outputCodec === "words" ? 0 : 64)],
    [160, INPUT_CODEC_CODES[inputCodec]],
    [168, OUTPUT_CODEC_CODES[outputCodec]],
    [176, rng.int(2, 40)],
  ];
  const word = fields.reduce((all, [offset, value]) => all | (BigInt(value) << BigInt(offset)), 0n);
  return { word, model: decodeModelWord(word) as LeafModel };
}

export function batchVectors(): Hex[] {
  const rng = createRng(23);
  const vectors: Hex[] = [];
  for (const [input] of INPUT_CODECS.entries()) {
    for (const [output] of OUTPUT_CODECS.entries()) {
      for (const count of [1, rng.pick([2, 3, 4]), rng.int(5, 17)]) {
        const { word, model } = leafModel(rng, input, output);
        const payloads = Array.from({ length: count }, () => randomLeaf(rng, model));
        const tree = batchTree(payloads);
        const at = place(rng);
        const batch = {
          prover: address(rng),
          modelId: hash(rng) as ModelId,
          window: rng.int(0, 2 ** 32 - 1),
          count,
          root: toHex(tree.root),
        };
        const index = rng.int(0, count - 1);
        const payload = payloads[index] as Uint8Array;
        const content = expandLeaf(model, payload);
        vectors.push(
          encodeAbiParameters(BATCH, [
            {
              modelWord: word,
              chainId: BigInt(at.chainId),
              promises: at.promises,
              batch,
              batchId: batchIdOf(at, batch),
              data: toHex(joinLeaves(payloads)),
              index: BigInt(index),
              payload: toHex(payload),
              path: tree.pathOf(index).map(toHex),
              input: toHex(content.input),
              output: toHex(content.output),
            },
          ]),
        );
      }
    }
  }
  return vectors;
}

/** Text of a file of vectors, by its name. */
export function promiseVectorFiles(): Readonly<Record<string, string>> {
  const file = (vectors: readonly Hex[]) =>
    `{"source": "test/support/promise-vectors.ts", "vectors": [\n${vectors
      .map((vector) => `  ${JSON.stringify(vector)}`)
      .join(",\n")}\n]}\n`;
  return { "signed-claims": file(signedVectors(24)), batches: file(batchVectors()) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(fileURLToPath(import.meta.url), "../../vectors");
  for (const [name, text] of Object.entries(promiseVectorFiles())) {
    writeFileSync(join(folder, `${name}.json`), text);
  }
}
