/** `assay model verify` of a model without a program: hashes and identity always; keys, verifier and a proof where ezkl
 *  is installed. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromHex, toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { validateManifest } from "../../inference/manifest/validate.ts";
import { checkFiles, sha256 } from "../../inference/model-folder.ts";
import {
  loadProofModel,
  type ProofModel,
  proofArchive,
  proofImageOf,
} from "../../prover/proof/ezkl/folder.ts";
import { pythonOf } from "../../prover/proof/ezkl/install.ts";
import { encodeCalldata } from "../../prover/proof/ezkl/instances.ts";
import { type EzklOptions, stage, workerOf } from "../../prover/proof/ezkl/keys.ts";
import { modelKeys, proveEzkl, verifyEzkl, withScratch } from "../../prover/proof/ezkl/prove.ts";
import { ezklMissing, runStage } from "../../prover/proof/ezkl/worker.ts";
import { compileVerifier } from "../proof/compile-verifier.ts";

/** One thing that a folder claims about itself. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** could not be done here; no verdict */
  readonly skipped?: true;
  readonly detail: string;
}

/** @throws BaseError as loadProofModel and checkFiles, for a folder that is not what its manifest says */
export async function verifyProofModel(directory: string, ezkl: EzklOptions): Promise<Check[]> {
  const model = loadProofModel(directory);
  const { manifest } = model;
  checkFiles(directory, manifest);
  const { warnings } = validateManifest(manifest);
  const image = proofImageOf(proofArchive(directory));
  const files = Object.keys(manifest.assay.files).length;
  return [
    { name: "manifest", ok: true, detail: `valid, ${warnings.length} warning(s)` },
    { name: "files", ok: true, detail: `${files} files have their sha256` },
    { name: "modelId", ok: true, detail: model.modelId },
    { name: "verifier", ok: true, detail: "its code is the key's, and depends on nothing but its calldata" },
    { name: "container_image", ok: image === manifest.container_image, detail: image },
    ...(await checkProofs(model, ezkl)),
  ];
}

async function checkProofs(model: ProofModel, ezkl: EzklOptions): Promise<Check[]> {
  const python = pythonOf(ezkl.folder);
  if (!existsSync(python)) {
    const name = "keys, verifier's source and a proof";
    return [{ name, ok: true, skipped: true, detail: ezklMissing(python).message }];
  }
  const keys = await keysCheck(model, ezkl);
  // With other keys nothing else can be made.
  return keys.ok ? [keys, await sourceCheck(model, ezkl), await proofCheck(model, ezkl)] : [keys];
}

async function keysCheck(model: ProofModel, ezkl: EzklOptions): Promise<Check> {
  try {
    const { vkSha256 } = await modelKeys(ezkl, model);
    return { name: "keys", ok: true, detail: `verification key ${vkSha256}, made from model.onnx` };
  } catch (error) {
    if (!isBaseError(error, "MODEL_MISMATCH")) throw error;
    return { name: "keys", ok: false, detail: error.shortMessage };
  }
}

async function sourceCheck(model: ProofModel, ezkl: EzklOptions): Promise<Check> {
  const keys = await modelKeys(ezkl, model);
  const source = await withScratch(ezkl, async (scratch) => {
    const solidity = join(scratch, "verifier.sol");
    const running = runStage(workerOf(ezkl), "verifier", { ...keys, solidity });
    await stage(ezkl, "write the verifier", running);
    return new Uint8Array(readFileSync(solidity));
  });
  const { code, initCode } = await compileVerifier(new TextDecoder().decode(source));
  const { verifier } = model;
  const same = sha256(source) === verifier.soliditySha256;
  const ok = same && code === verifier.code && initCode === verifier.initCode;
  const detail = ok ? "what ezkl writes for these keys compiles to it" : "ezkl writes another for these keys";
  return { name: "verifier's source", ok, detail };
}

/** Proves one output, and asks ezkl whether it accepts that and refuses another. */
async function proofCheck(model: ProofModel, ezkl: EzklOptions): Promise<Check> {
  const numbers = Array.from({ length: model.inputs }, (_, i) => (i * 37) % 101);
  const calldata = encodeCalldata(fromHex(model.manifest.assay.selector), numbers);
  const { output, proof, seconds } = await proveEzkl(ezkl, model, calldata, 0n);
  const right = fromHex(output);
  const wrong = right.with(31, (right[31] ?? 0) ^ 1);
  const accepts = (held: Uint8Array) => verifyEzkl(ezkl, model, calldata, held, fromHex(proof), 0n);
  const ok = (await accepts(right)) && !(await accepts(wrong));
  const detail = `${proof.length / 2 - 1} bytes in ${seconds.toFixed(1)} s for an output that starts with ${toHex(right.subarray(0, 32))}`;
  return { name: "proof", ok, detail };
}
