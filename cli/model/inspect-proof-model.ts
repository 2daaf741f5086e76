/** `assay model inspect` of a model without a program: what its proofs say and what they take. */
import type { Command } from "commander";
import { circuitNodes } from "../../prover/proof/ezkl/circuit-onnx.ts";
import { loadProofModel } from "../../prover/proof/ezkl/folder.ts";
import { instanceCount } from "../../prover/proof/ezkl/instances.ts";
import { printResult } from "../output.ts";

export function inspectProofModel(folder: string, self: Command): void {
  const model = loadProofModel(folder);
  const { modelId, manifest, verifier } = model;
  const { codec, lanes, maxCalldata, outputLength, inputs, outputs, ezkl, evaluation } = manifest.assay;
  const sizes = {
    modelId,
    lanes: lanes.join(", "),
    inputCodec: codec.input,
    outputCodec: codec.output,
    inputSize: codec.inputSize,
    maxCalldata,
    outputLength,
    nodes: circuitNodes(model.onnx).join(", "),
    rows: 2 ** ezkl.logrows,
    publicValues: instanceCount(model),
    ezkl: ezkl.version,
    srs: ezkl.srs,
    verifierBytes: verifier.code.length / 2 - 1,
    compiler: verifier.compiler,
  };
  const tensor = ({ name, dims, scaleBits }: (typeof inputs)[number]): string =>
    `${name} [${dims.join(", ")}] × 2^${scaleBits}`;
  printResult(self, { sizes, inputs, outputs, ezkl, ...(evaluation === undefined ? {} : { evaluation }) }, [
    ...Object.entries(sizes).map(([key, value]) => `${key}: ${value}`),
    ...inputs.map((entry) => `input ${tensor(entry)}`),
    ...outputs.map((entry) => `output ${tensor(entry)}`),
    ...Object.entries(evaluation ?? {}).map(([key, value]) => `evaluation: ${key} ${value}`),
    "no program: no EXECUTION and no BOND lane, and no Groth16 proof",
    ...(ezkl.srs === "development" ? ["DEV-ONLY: anybody can forge proofs with these keys"] : []),
  ]);
}
