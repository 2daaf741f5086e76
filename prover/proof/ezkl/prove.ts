/** Proves an output of a model without a program, and verifies such proofs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { mustEqual } from "../../../inference/manifest/model-files.ts";
import { circuitOnnx } from "./circuit-onnx.ts";
import type { ProofModel } from "./folder.ts";
import {
  bindingNumbers,
  FIELD_ORDER,
  inputNumbers,
  outputBytes,
  outputNumbers,
  signedElement,
} from "./instances.ts";
import { type CircuitKeys, type EzklOptions, makeKeys, parseSettings, stage, workerOf } from "./keys.ts";
import { runStage } from "./worker.ts";

export interface EzklProof {
  /** return data of the model */
  readonly output: Hex;
  readonly proof: Hex;
  /** witness and proof, without keys that had to be made first */
  readonly seconds: number;
  /** greatest of both processes */
  readonly memoryBytes: number;
}

/** Keys of a model, made at first use; they must be those that the manifest names.
 *  @throws BaseError as makeKeys does; MODEL_MISMATCH */
export async function modelKeys(options: EzklOptions, model: ProofModel): Promise<CircuitKeys> {
  const { ezkl } = model.manifest.assay;
  if (ezkl.srs === "ceremony" && options.srs === undefined) {
    throw new BaseError({
      code: "EZKL_SRS_MISSING",
      shortMessage: `The keys of ${model.manifest.name} come from a ceremony's SRS with SHA-256 ${ezkl.srsSha256}.`,
      nextStep: "Name its file with --srs.",
    });
  }
  // A ceremony's file is for the models that name it.
  const { srs, ...development } = options;
  const using = ezkl.srs === "development" || srs === undefined ? development : { ...development, srs };
  const keys = await makeKeys(using, circuitOnnx(model.onnx).bytes, model.settings);
  mustEqual("SHA-256 of the SRS", ezkl.srsSha256, keys.srsSha256);
  mustEqual("SHA-256 of the verification key", ezkl.vkSha256, keys.vkSha256);
  return keys;
}

/** Outputs of the circuit on canonical calldata, without proofs.
 *  @throws BaseError as decodeInput, modelKeys and runStage do; EZKL_OUTPUT_OUT_OF_RANGE */
export async function runEzkl(
  options: EzklOptions,
  model: ProofModel,
  calldata: readonly Uint8Array[],
): Promise<Uint8Array[]> {
  const files = calldata.map((one) => inputFile(model, numbersOf(model, one), 0n));
  const keys = await modelKeys(options, model);
  return withScratch(options, async (scratch) => {
    const data = files.map((content, i) => {
      const path = join(scratch, `data-${i}.json`);
      writeFileSync(path, content);
      return path;
    });
    const request = { circuit: keys.circuit, data, witness: join(scratch, "witness.json") };
    const running = runStage(workerOf(options), "witnesses", request);
    const { outputs } = await stage(options, "run the circuit", running);
    return outputs.map((tensors) => outputBytes(tensors.flat().map(signedElement)));
  });
}

const numbersOf = ({ manifest, inputs }: ProofModel, calldata: Uint8Array): number[] =>
  inputNumbers(fromHex(manifest.assay.selector), calldata, inputs);

/** Runs the circuit on canonical calldata and proves it.
 *  @param binding of submitter and chain: ezklBinding
 *  @throws BaseError as runEzkl does; EZKL_INSTANCES_WRONG */
export async function proveEzkl(
  options: EzklOptions,
  model: ProofModel,
  calldata: Uint8Array,
  binding: bigint,
): Promise<EzklProof> {
  const inputs = numbersOf(model, calldata);
  const keys = await modelKeys(options, model);
  return withScratch(options, async (scratch) => {
    const files = {
      data: join(scratch, "data.json"),
      witness: join(scratch, "witness.json"),
      proof: join(scratch, "proof.json"),
    };
    writeFileSync(files.data, inputFile(model, inputs, binding));
    const worker = workerOf(options);
    const request = { ...keys, ...files };
    const witness = await stage(options, "run the circuit", runStage(worker, "witness", request));
    const outputs = witness.outputs.flat().map(signedElement);
    const made = await stage(options, "prove", runStage(worker, "prove", request));
    const expected = [...inputs, ...bindingNumbers(binding)].map(BigInt).concat(outputs);
    const found = made.instances.map(signedElement);
    if (expected.length !== found.length || expected.some((value, i) => value !== found[i])) {
      throw new BaseError({
        code: "EZKL_INSTANCES_WRONG",
        shortMessage: `The proof's ${found.length} public values are not the ${expected.length} of this input.`,
        nextStep: "Use the ezkl version that the lock file names.",
      });
    }
    const { valid } = await stage(options, "verify", runStage(worker, "verify", request));
    if (!valid) {
      throw new BaseError({
        code: "EZKL_FAILED",
        shortMessage: "ezkl made a proof that its own verifier rejects.",
        nextStep: `Delete ${keys.directory}, so that the keys are made again.`,
      });
    }
    return {
      output: toHex(outputBytes(outputs)),
      proof: made.proof as Hex,
      seconds: witness.seconds + made.seconds,
      memoryBytes: Math.max(witness.memoryBytes, made.memoryBytes),
    };
  });
}

/** Verifies a proof with ezkl itself, beside the contract.
 *  @returns false only if the proof system rejects it */
export async function verifyEzkl(
  options: EzklOptions,
  model: ProofModel,
  calldata: Uint8Array,
  output: Uint8Array,
  proof: Uint8Array,
  binding: bigint,
): Promise<boolean> {
  const numbers = [...numbersOf(model, calldata), ...bindingNumbers(binding)].map(BigInt);
  const outputs = outputNumbers(output);
  // Words outside of 128 bits have another number's field element.
  if (output.length !== 32 * model.outputs || toHex(outputBytes(outputs)) !== toHex(output)) return false;
  const keys = await modelKeys(options, model);
  return withScratch(options, async (scratch) => {
    const path = join(scratch, "proof.json");
    writeFileSync(path, proofFile(numbers.concat(outputs), proof));
    const answer = await stage(
      options,
      "verify",
      runStage(workerOf(options), "verify", { ...keys, proof: path }),
    );
    return answer.valid;
  });
}

/** What ezkl reads as input: values of each tensor. A 16-bit number times a power of two is exact as a double.
 *  @param inputs fixed-point inputs: inputNumbers */
export function inputFile(model: ProofModel, inputs: readonly number[], binding: bigint): string {
  let from = 0;
  const tensors = model.key.inputs.map(({ elements, scaleBits }) => {
    from += elements;
    return inputs.slice(from - elements, from).map((number) => number / 2 ** scaleBits);
  });
  // ezkl's fraction bits of the last input.
  const scale = parseSettings(model.settings).model_input_scales.at(-1) ?? 0;
  const bound = bindingNumbers(binding).map((number) => number / 2 ** scale);
  return JSON.stringify({ input_data: [...tensors, bound] });
}

/** ezkl's proof file, as far as `verify` reads it. */
function proofFile(instances: readonly bigint[], proof: Uint8Array): string {
  const element = (value: bigint): string => {
    const bytes = new Uint8Array(32);
    const field = value < 0n ? value + FIELD_ORDER : value;
    for (let i = 0; i < 32; i++) bytes[i] = Number((field >> BigInt(8 * i)) & 255n);
    return toHex(bytes).slice(2);
  };
  return JSON.stringify({
    protocol: null,
    instances: [instances.map(element)],
    proof: [...proof],
    hex_proof: toHex(proof),
    split: null,
    pretty_public_inputs: null,
    timestamp: null,
    version: null,
  });
}

/** A folder for the files of one run, removed afterwards whatever happens. */
export async function withScratch<T>(
  { folder }: EzklOptions,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const parent = join(folder, "scratch");
  mkdirSync(parent, { recursive: true });
  const scratch = mkdtempSync(join(parent, "run-"));
  try {
    return await work(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
