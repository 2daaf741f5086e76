/** `assay proof prove` and `assay proof verify`: proofs without a chain, by Groth16 or, for a float model, by ezkl. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { getAddress, isAddress } from "viem";
import { z } from "zod";
import { fromHex, type Hex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { meaningOf } from "../../inference/meaning/read.ts";
import { withEzklSettings } from "../ezkl-options.ts";
import { printResult, refuseArgument, toJson, withJson } from "../output.ts";
import { type KeyOptions, withKeys } from "./keys.ts";
import { type InputOptions, openMethod, type StatedProof } from "./method.ts";

interface ProveOptions extends KeyOptions, InputOptions {
  readonly submitter: string;
  readonly proofLane: string;
  readonly chainId: string;
  readonly out?: string;
}

export function addProveCommands(parent: Command): void {
  const proving = parent
    .command("prove <model>")
    .description("prove one inference; the proof is good for one submitter on one chain")
    .option(
      "--inputs <file>",
      "JSON object of the function's parameters by name, of a float model its numbers by input name; - for standard input",
    )
    .option("--text <text>", "the one text of a model that takes a text")
    .requiredOption("--submitter <address>", "who will present the proof")
    .requiredOption("--proof-lane <address>", "the ProofLane contract, proofAdapter of the deployment file")
    .option("--chain-id <n>", "of the chain", "31337")
    .option("--out <file>", "write the proof here, as JSON");
  withJson(withEzklSettings(withKeys(proving))).action(prove);
  const verifying = parent
    .command("verify <model>")
    .description("verify a proof that `assay proof prove` wrote")
    .requiredOption("--proof <file>", "JSON file of the proof");
  withJson(withEzklSettings(withKeys(verifying))).action(verify);
}

async function prove(name: string, options: ProveOptions, self: Command): Promise<void> {
  const [submitter, proofLane] = [options.submitter, options.proofLane].map((text) =>
    isAddress(text) ? getAddress(text) : refuseArgument("--submitter and --proof-lane", text, "an address"),
  ) as [Hex, Hex];
  const chainId = Number(options.chainId);
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    refuseArgument("--chain-id", options.chainId, "a number from 1");
  const method = openMethod(name, options, self);
  try {
    const calldata = method.calldataOf(options);
    const start = performance.now();
    const proven = await method.prove(calldata, { chainId, proofLane, submitter });
    const seconds = (performance.now() - start) / 1000;
    const values = method.valuesOf(proven.output);
    const { meaning } = meaningOf(method.readable, fromHex(proven.output));
    if (options.out !== undefined) writeFileSync(options.out, `${toJson(proven)}\n`);
    printResult(self, { ...proven, ...(meaning && { meaning }), ...(values && { values }), seconds }, [
      ...(meaning === undefined ? [] : [meaning.text]),
      ...Object.entries(values ?? {}).map(([key, held]) => `${key}: ${held.join(" ")}`),
      `output ${proven.output}`,
      `proof ${proven.evidence}`,
      `proved in ${seconds.toFixed(2)} s`,
    ]);
  } finally {
    method.close();
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

async function verify(name: string, options: KeyOptions & { proof: string }, self: Command): Promise<void> {
  const method = openMethod(name, options, self);
  try {
    const stated = readProof(options.proof);
    if (stated.modelId !== method.modelId)
      refuseArgument("--proof", stated.modelId, `of model ${method.modelId}`);
    const valid = await method.verify(stated);
    const { modelId, output } = stated;
    printResult(self, { valid, modelId, output }, [valid ? `valid: ${modelId} gives ${output}` : "INVALID"]);
    if (!valid) process.exitCode = 1;
  } finally {
    method.close();
  }
}

/** @throws BaseError PROOF_INVALID */
function readProof(path: string): StatedProof {
  try {
    return proofSchema.parse(JSON.parse(readFileSync(path, "utf8"))) as StatedProof;
  } catch (cause) {
    throw new BaseError({
      code: "PROOF_INVALID",
      shortMessage: `${path} holds no proof.`,
      nextStep: "Give what `assay proof prove --out` wrote.",
      cause,
    });
  }
}
