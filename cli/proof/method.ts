/** What proves a model's outputs: Groth16 for a program, ezkl for a float model. Commands see one form of both. */
import type { Command } from "commander";
import { getContractAddress, getCreate2Address, type Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Readable } from "../../inference/meaning/form.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { decodeKey, decodeProof } from "../../protocol/rules/proof/groth16.ts";
import {
  ezklBinding,
  groth16Binding,
  type ProofBinding,
  publicSignals,
} from "../../protocol/rules/proof/public-signals.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { isProofModelFolder, loadProofModel } from "../../prover/proof/ezkl/folder.ts";
import { encodeCalldata, encodeEvidence, outputNumbers } from "../../prover/proof/ezkl/instances.ts";
import { proveEzkl, verifyEzkl } from "../../prover/proof/ezkl/prove.ts";
import { fromFixedPoint, toFixedPoint } from "../../prover/proof/ezkl/values.ts";
import { type CompiledCircuit, compileCircuit } from "../../prover/proof/groth16/compile.ts";
import type { ModelKeys } from "../../prover/proof/groth16/keys.ts";
import { proveInference } from "../../prover/proof/groth16/prove-inference.ts";
import { openGroth16Prover } from "../../prover/proof/groth16/snark/native.ts";
import { ezklOptionsOf } from "../ezkl-options.ts";
import { readJson } from "../model/resolve.ts";
import { modelFolder } from "../model-source.ts";
import { refuseArgument } from "../output.ts";
import { readInputs } from "../request.ts";
import { type KeyOptions, provingKeysOf } from "./keys.ts";

/** Statement and evidence, as `assay proof prove` writes them and `settle` takes them. */
export interface StatedProof extends ProofBinding {
  readonly input: Hex;
  readonly output: Hex;
  readonly evidence: Hex;
}

export interface InputOptions {
  readonly inputs?: string;
  readonly text?: string;
}

export interface ProofMeans {
  readonly modelId: ModelId;
  /** how the model's output is read */
  readonly readable: Readable;
  /** Calldata of what a command's options give. @throws BaseError INPUTS_INVALID */
  calldataOf(options: InputOptions): Uint8Array;
  prove(calldata: Uint8Array, binding: Omit<ProofBinding, "modelId">): Promise<StatedProof>;
  /** @returns false only if the proof system rejects it */
  verify(stated: StatedProof): Promise<boolean>;
  /** The output as a reader wants it, by name; undefined: as its bytes are. */
  valuesOf(output: Hex): Readonly<Record<string, readonly number[]>> | undefined;
  close(): void;
}

/** Opens what a model's proofs need; keys only when one is made.
 *  @throws BaseError LANE_UNAVAILABLE; as the loaders of model folders do */
export function openMethod(name: string, options: KeyOptions, self: Command): ProofMeans {
  const folder = modelFolder(name);
  return isProofModelFolder(folder) ? ezklMeans(folder, self) : groth16Means(folder, options);
}

function groth16Means(folder: string, options: KeyOptions): ProofMeans {
  const loaded = loadModelFolder(folder);
  const { model, selector, manifest, verificationKey } = loaded;
  const modelId = loaded.modelId as ModelId;
  const prover = openGroth16Prover(options.groth16Prover);
  let opened: { readonly keys: ModelKeys; readonly circuit: CompiledCircuit } | undefined;
  return {
    modelId,
    readable: manifest.assay,
    calldataOf: (inputs) => {
      const declared = manifest.abi[0] as (typeof manifest.abi)[number];
      const called = { ...declared, selector: manifest.assay.selector as Hex };
      return fromHex(encodeCall(called, readInputs({ function: called }, inputs)));
    },
    prove: async (calldata, binding) => {
      opened ??= { keys: await provingKeysOf(loaded, options), circuit: compileCircuit(model) };
      const { keys, circuit } = opened;
      return proveInference(loaded, calldata, { ...binding, modelId }, keys, prover, { circuit });
    },
    verify: async (stated) => {
      if (verificationKey === undefined) throw withoutKey(folder);
      const [input, output] = [fromHex(stated.input), fromHex(stated.output)];
      const signals = publicSignals(model.program, selector, input, output, groth16Binding(stated));
      return prover.verify(decodeKey(verificationKey), signals, decodeProof(fromHex(stated.evidence)));
    },
    valuesOf: () => undefined,
    close: () => prover.close(),
  };
}

const ADDRESS_BYTES = 20;
const NO_SALT: Hex = `0x${"00".repeat(32)}`;

function ezklMeans(folder: string, self: Command): ProofMeans {
  const model = loadProofModel(folder);
  const modelId = model.modelId as ModelId;
  const { assay } = model.manifest;
  const ezkl = ezklOptionsOf(self);
  return {
    modelId,
    readable: assay,
    calldataOf: ({ inputs, text }) => {
      if (inputs === undefined || text !== undefined)
        refuseArgument("--inputs", inputs, "a JSON object with numbers by input name");
      const values = readJson(inputs) as Record<string, unknown>;
      return encodeCalldata(fromHex(assay.selector), toFixedPoint(assay.inputs, values));
    },
    prove: async (calldata, bound) => {
      const binding = { ...bound, modelId };
      const { output, proof } = await proveEzkl(ezkl, model, calldata, ezklBinding(binding));
      const verifier = verifierAddress(bound.proofLane, model.verifier.initCode as Hex);
      return { ...binding, input: toHex(calldata), output, evidence: encodeEvidence(verifier, proof) };
    },
    verify: (stated) => {
      const [input, output, evidence] = [stated.input, stated.output, stated.evidence].map(fromHex) as [
        Uint8Array,
        Uint8Array,
        Uint8Array,
      ];
      return verifyEzkl(ezkl, model, input, output, evidence.slice(ADDRESS_BYTES), ezklBinding(stated));
    },
    valuesOf: (output) => fromFixedPoint(assay.outputs, outputNumbers(fromHex(output))),
    close: () => {},
  };
}

/** Where a ProofLane's verifier with this code is, or will be: EzklVerifiers is the first contract that it creates,
 *  and creates without a salt. */
export const verifierAddress = (proofLane: Hex, initCode: Hex): Hex =>
  getCreate2Address({
    from: getContractAddress({ from: proofLane, nonce: 1n }),
    salt: NO_SALT,
    bytecode: initCode,
  });

const withoutKey = (folder: string): BaseError =>
  new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: `${folder} has no PROOF lane.`,
    nextStep: "Use a lane that its manifest names.",
  });
