/** Writes test/vectors/ezkl.json: one proof of models/forecast-ezkl, for tests that have no Python.
 *  `tsx test/support/make-ezkl-vectors.ts --data FOLDER`, where `assay proof ezkl install --data FOLDER` ran. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fromHex, toHex } from "../../base/bytes.ts";
import { ezklBinding } from "../../protocol/rules/proof/public-signals.ts";
import { loadProofModel } from "../../prover/proof/ezkl/folder.ts";
import { encodeCalldata, encodeEvidence } from "../../prover/proof/ezkl/instances.ts";
import { proveEzkl } from "../../prover/proof/ezkl/prove.ts";
import { projectRoot } from "../../tools/foundry.ts";

const HOURS = 512;
const BINDING = {
  chainId: 31337,
  adapter: "0x00000000000000000000000000000000000000aa",
  submitter: "0x00000000000000000000000000000000000000bb",
} as const;
/** The contract tests put the verifier anywhere; this address stands for it in the evidence. */
const VERIFIER = "0x00000000000000000000000000000000000000cc";

/** Two days' rhythm on a trend, some hours below zero: 16-bit numbers in steps of 1/128. */
export const windowNumbers = (): number[] =>
  Array.from({ length: HOURS }, (_, i) => ((i * 37) % 24) * 90 + ((i * i) % 101) - 3 * i + 200);

async function main(): Promise<void> {
  const flag = process.argv.indexOf("--data");
  const folder = resolve(process.argv[flag + 1] ?? "data", "ezkl");
  const model = loadProofModel(join(projectRoot, "models", "forecast-ezkl"));
  const calldata = encodeCalldata(fromHex(model.manifest.assay.selector), windowNumbers());
  const binding = ezklBinding({ ...BINDING, proofLane: BINDING.adapter, modelId: model.modelId });
  const { output, proof } = await proveEzkl({ folder }, model, calldata, binding);
  const vector = {
    source: "test/support/make-ezkl-vectors.ts, ezkl 23.0.5, models/forecast-ezkl",
    ...BINDING,
    modelId: model.modelId,
    binding: toHex(fromHex(`0x${binding.toString(16).padStart(64, "0")}`)),
    inputs: model.inputs,
    outputs: model.outputs,
    selector: model.manifest.assay.selector,
    key: toHex(model.keyBytes),
    initCode: model.verifier.initCode,
    input: toHex(calldata),
    output,
    evidence: encodeEvidence(VERIFIER, proof),
  };
  writeFileSync(
    join(projectRoot, "test", "vectors", "ezkl.json"),
    `${JSON.stringify(vector, undefined, 2)}\n`,
  );
}

if (process.argv[1]?.endsWith("make-ezkl-vectors.ts") === true) await main();
