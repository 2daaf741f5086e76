/** `assay proof prove` and `assay proof verify`: proofs without a chain. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { getAddress, isAddress } from "viem";
import { z } from "zod";
import { fromHex, type Hex } from "../../inference/bytes.ts";
import { BaseError } from "../../inference/errors.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { encodeCall } from "../../protocol/abi.ts";
import { decodeKey, decodeProof } from "../../protocol/proof/groth16.ts";
import { bindingSignal, publicSignals } from "../../protocol/proof/public-signals.ts";
import { proveInference } from "../../prover/proof/groth16/prove-inference.ts";
import { SnarkjsProver } from "../../prover/proof/groth16/snark/prover.ts";
import { modelFolder } from "../model-source.ts";
import { printResult, refuseArgument, toJson, withJson } from "../output.ts";
import { readInputs } from "../request.ts";
import { type KeyOptions, provableModel, withKeys } from "./keys.ts";

interface ProveOptions extends KeyOptions {
  readonly inputs?: string;
  readonly text?: string;
  readonly submitter: string;
  readonly proofLane: string;
  readonly chainId: string;
  readonly out?: string;
}

export function addProveCommands(parent: Command): void {
  const proving = parent
    .command("prove <model>")
    .description("prove one inference; the proof is good for one submitter on one chain")
    .option("--inputs <file>", "JSON object of the function's parameters by name, - for standard input")
    .option("--text <text>", "the one text of a model that takes a text")
    .requiredOption("--submitter <address>", "who will present the proof")
    .requiredOption("--proof-lane <address>", "the ProofLane contract, proofAdapter of the deployment file")
    .option("--chain-id <n>", "of the chain", "31337")
    .option("--out <file>", "write the proof here, as JSON");
  withJson(withKeys(proving)).action(prove);
  const verifying = parent
    .command("verify <model>")
    .description("verify a proof that `assay proof prove` wrote")
    .requiredOption("--proof <file>", "JSON file of the proof");
  withJson(verifying).action(verify);
}

async function prove(name: string, options: ProveOptions, self: Command): Promise<void> {
  const [submitter, proofLane] = [options.submitter, options.proofLane].map((text) =>
    isAddress(text) ? getAddress(text) : refuseArgument("--submitter and --proof-lane", text, "an address"),
  ) as [Hex, Hex];
  const chainId = Number(options.chainId);
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    refuseArgument("--chain-id", options.chainId, "a number from 1");
  const { loaded, keys } = await provableModel(name, options);
  const { manifest, modelId } = loaded;
  const declared = manifest.abi[0] as (typeof manifest.abi)[number];
  const called = { ...declared, selector: manifest.assay.selector as Hex };
  const calldata = fromHex(encodeCall(called, readInputs(called, options)));
  const prover = new SnarkjsProver();
  const start = performance.now();
  try {
    const binding = { chainId, proofLane, modelId, submitter };
    const proven = await proveInference(loaded, calldata, binding, keys, prover);
    const seconds = (performance.now() - start) / 1000;
    if (options.out !== undefined) writeFileSync(options.out, `${toJson(proven)}\n`);
    printResult(self, { ...proven, seconds }, [
      `output ${proven.output}`,
      `proof ${proven.evidence}`,
      `${proven.signals.length} public signals, proved in ${seconds.toFixed(2)} s`,
    ]);
  } finally {
    prover.close();
  }
}

const hex = z.string().regex(/^0x([0-9a-fA-F]{2})*$/);
const proofSchema = z.object({
  chainId: z.int().positive(),
  proofLane: hex,
  modelId: hex,
  submitter: hex,
  input: hex,
  output: hex,
  evidence: hex,
});

async function verify(name: string, options: { proof: string }, self: Command): Promise<void> {
  const { model, selector, verificationKey, modelId } = loadModelFolder(modelFolder(name));
  const stated = readProof(options.proof);
  if (verificationKey === undefined || stated.modelId !== modelId) {
    refuseArgument("--proof", stated.modelId, `of model ${modelId}, with a PROOF lane`);
  }
  const binding = bindingSignal(stated as Parameters<typeof bindingSignal>[0]);
  const [input, output, evidence] = [stated.input, stated.output, stated.evidence].map(fromHex) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const signals = publicSignals(model.program, selector, input, output, binding);
  const prover = new SnarkjsProver();
  try {
    const valid = await prover.verify(decodeKey(verificationKey), signals, decodeProof(evidence));
    printResult(self, { valid, modelId, output: stated.output }, [
      valid ? `valid: ${modelId} gives ${stated.output}` : "INVALID",
    ]);
    if (!valid) process.exitCode = 1;
  } finally {
    prover.close();
  }
}

/** @throws BaseError PROOF_INVALID */
function readProof(path: string): z.infer<typeof proofSchema> {
  try {
    return proofSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new BaseError({
      code: "PROOF_INVALID",
      shortMessage: `${path} holds no proof.`,
      nextStep: "Give what `assay proof prove --out` wrote.",
      cause,
    });
  }
}
