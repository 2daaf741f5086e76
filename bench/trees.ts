/** Gas of tree ensembles on the chain. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromHex, toHex } from "../base/bytes.ts";
import { encodeInput } from "../inference/codecs/input.ts";
import { execute } from "../inference/executor/execute.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import { compileModel } from "../protocol/chain/execution/compiled.ts";
import { inferFastOnChain, inferOnChain } from "../protocol/chain/execution/infer.ts";
import { planPublication, publishWeights } from "../protocol/chain/execution/publication.ts";
import { registerModel } from "../protocol/chain/register.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import { circuitSize } from "../prover/proof/groth16/compile.ts";
import { assertKeysOf, developmentKeys } from "../prover/proof/groth16/keys.ts";
import { proveInference } from "../prover/proof/groth16/prove-inference.ts";
import { SnarkjsProver } from "../prover/proof/groth16/snark/prover.ts";
import { type BenchChain, openBenchChain } from "./chain.ts";
import { inferenceGas, proverBinding, settle, storeKey } from "./lanes/moves.ts";
import { type Figure, gasFigure, grouped, type Part } from "./report.ts";

/** A good application of the data set, and a bad one. */
const APPLICATIONS = [
  [0, 6, 4, 3, 1169, 4, 4, 4, 0, 4, 0, 67, 2, 1, 2, 2, 1, 1],
  [0, 60, 0, 0, 18000, 0, 0, 4, 1, 1, 3, 19, 0, 0, 1, 0, 2, 0],
];

/** Its key, and one result by proof: request and settlement. Nothing of a model without the lane. */
async function proofFigures(bench: BenchChain, modelId: ModelId, loaded: LoadedModel, input: Uint8Array) {
  const { model, selector, manifest, verificationKey } = loaded;
  if (verificationKey === undefined) return [];
  const stored = await storeKey(bench, modelId, verificationKey);
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-keys-"));
  const prover = new SnarkjsProver();
  try {
    const keys = await developmentKeys(model, folder);
    assertKeysOf(manifest.assay.vkHash, keys);
    const binding = proverBinding(bench, modelId);
    const gas = await settle(
      bench,
      modelId,
      await proveInference({ model, selector }, input, binding, keys, prover),
    );
    return [
      gasFigure("request", gas.request),
      gasFigure("settlement by one proof", gas.settle),
      gasFigure("storing its verification key, once", stored),
    ];
  } finally {
    prover.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(bench: BenchChain, name: string): Promise<Figure[]> {
  const loaded = loadModelFolder(`models/${name}`);
  const { model, selector, commitment, laneBits: lanes, manifest } = loaded;
  const prepared = prepare(model, selector);
  const cases = APPLICATIONS.map((int16s) => {
    const input = encodeInput(model.program, selector, { codec: "int16s", int16s });
    return { input: toHex(input), output: toHex(execute(prepared, input)) };
  });
  const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
  const { modelId, published, compiled } = await bench.withSender(async (sender) => {
    const { modelId: id } = await registerModel(bench.chain, sender, encodeProgram(model.program), identity);
    const { gasUsed } = await publishWeights(bench.chain, sender, id, planPublication(model));
    const hasDot = model.program.steps.some(({ opcode }) => opcode === "dot");
    const built = hasDot ? (await compileModel(bench.chain, sender, id, model)).gasUsed : undefined;
    return { modelId: id, published: gasUsed, compiled: built };
  });
  let [plain, fast] = [0, 0];
  for (const one of cases) {
    if ((await inferOnChain(bench.chain, modelId, one.input)) !== one.output)
      throw new Error(`${name}: plain`);
    if ((await inferFastOnChain(bench.chain, modelId, one.input)) !== one.output)
      throw new Error(`${name}: fast`);
    plain = Math.max(plain, (await inferenceGas(bench, modelId, one, "plain")).inner);
    fast = Math.max(fast, (await inferenceGas(bench, modelId, one, "fast")).inner);
  }
  const { constraints } = circuitSize(model);
  const byProof = await proofFigures(
    bench,
    modelId,
    loaded,
    fromHex((cases[0] as (typeof cases)[number]).input),
  );
  return [
    gasFigure(`${name}: inside a transaction, cold`, BigInt(plain)),
    gasFigure(`${name}: the same, planned${compiled === undefined ? "" : " and compiled"}`, BigInt(fast)),
    gasFigure(`${name}: publishing its weights, once`, published),
    ...(compiled === undefined ? [] : [gasFigure(`${name}: compiling its product, once`, compiled)]),
    { name: `${name}: circuit of the lane PROOF`, value: `${grouped(constraints)} constraints` },
    ...byProof.map((figure) => ({ ...figure, name: `${name}, lane PROOF: ${figure.name}` })),
  ];
}

export const TREES_PART: Part = {
  name: "trees",
  title: "Trees on the chain",
  method:
    "models/credit-trees (200 trees, 787 leaves, 16 of 18 facts) beside the score card models/credit, both by the contracts of this repository on anvil: the dearer of two applications; outputs are compared with the executor's. The trees have the lane PROOF, too: one proof, by a development key, settles one request. No gas of a published on-chain verifier of tree ensembles was found to stand beside these. What is published: Remainder (Cao and others, Modulus Labs, *Scaling Intelligence: Verifiable Decision Forest Inference with Remainder*) proves 128 trees of height 9 on 128 inputs in under 54 s; GL1F (gl1f.com) runs boosted trees from contract storage by a view call of its own chain; LMST (arXiv 2503.06203), a perceptron and no trees, takes 73.7 million gas to upload its weights.",
  run: async () => {
    const bench = await openBenchChain();
    try {
      return [...(await measure(bench, "credit-trees")), ...(await measure(bench, "credit"))];
    } finally {
      await bench.close();
    }
  },
};
