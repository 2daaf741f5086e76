/** `assay model pull`: takes a model's files from a prover, and believes none of them unchecked. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { BaseError } from "../base/errors.ts";
import { type Manifest, MODEL_FILES } from "../inference/manifest/assay.ts";
import { checkedAny } from "../inference/manifest/model-files.ts";
import { isProofManifest, PROOF_MODEL_FILES, type ProofManifest } from "../inference/manifest/proof-model.ts";
import { checkFiles, loadModelFolder } from "../inference/model-folder.ts";
import { isModelId, type ModelId } from "../protocol/rules/types.ts";
import { loadProofModel } from "../prover/proof/ezkl/folder.ts";
import { printProgress, printResult, refuseArgument, withJson } from "./output.ts";

/** No file of a model is larger: programs and weights have limits of their own far below. */
const MAX_FILE_BYTES = 512 * 2 ** 20;
const MAX_MANIFEST_BYTES = 2 ** 20;
const TIMEOUT_MS = 60_000;

export function addPullCommand(model: Command): void {
  const command = model
    .command("pull")
    .description("take a model's files from a prover and check them against the model's id")
    .argument("<url>", "base URL of the prover")
    .argument("<modelId>", "id of the model")
    .requiredOption("--out <folder>", "folder to make");
  withJson(command).action(async (url: string, id: string, { out }: { out: string }, self: Command) => {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      refuseArgument("url", url, "an http or https URL");
    }
    if (!isModelId(id)) refuseArgument("modelId", id, "32 bytes as hex");
    if (existsSync(out)) refuseArgument("--out", out, "a folder that does not exist yet");
    const manifest = await pullModel(url, id, out);
    printResult(self, { modelId: id, name: manifest.name, folder: out }, [
      `${manifest.name} is in ${out}; every file matches model ${id}`,
    ]);
  });
}

/** Takes GET /v1/models/:id/files/<name>, manifest.json first. Writes the folder in one step, after every check;
 *  leaves nothing behind when one fails.
 *  @throws BaseError PULL_FAILED (retryable), PULL_REFUSED, and what the loaders of model folders throw */
export async function pullModel(url: string, id: ModelId, out: string): Promise<Manifest | ProofManifest> {
  const base = `${url.replace(/\/$/, "")}/v1/models/${id}/files`;
  const text = (await get(`${base}/manifest.json`, MAX_MANIFEST_BYTES)).toString("utf8");
  const manifest = checkedAny(parseJson(text, base), `${base}/manifest.json`);
  if (manifest.assay.modelId !== id)
    throw refused(base, `its manifest is of model ${manifest.assay.modelId}`);
  const folder = `${out}.pulling`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(out), { recursive: true });
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(join(folder, "manifest.json"), text);
    const { files } = manifest.assay;
    for (const name of isProofManifest(manifest) ? PROOF_MODEL_FILES : MODEL_FILES) {
      const entry = files[name];
      if (entry === undefined) continue;
      printProgress(`${name}, ${entry.bytes} bytes`);
      const content = await get(`${base}/${name}`, Math.min(entry.bytes, MAX_FILE_BYTES));
      writeFileSync(join(folder, name), content);
    }
    // Every file first, also those that only describe; then the id, and what proves that it is what it says.
    checkFiles(folder, manifest);
    if (isProofManifest(manifest)) loadProofModel(folder);
    else loadModelFolder(folder);
    renameSync(folder, out);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return manifest;
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused(url, "its manifest is not JSON");
  }
}

/** @param limit most bytes that are read */
async function get(url: string, limit: number): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
    if (!response.ok) throw refused(url, `it answered ${response.status}`);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > limit) throw refused(url, `it sent more than the ${limit} bytes that were expected`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    if (error instanceof BaseError) throw error;
    throw new BaseError({
      code: "PULL_FAILED",
      shortMessage: `${url} cannot be read: ${(error as Error).message}.`,
      nextStep: "Check that a prover runs there.",
      retryable: true,
      cause: error,
    });
  }
}

const refused = (url: string, why: string) =>
  new BaseError({
    code: "PULL_REFUSED",
    shortMessage: `The files from ${url} are not taken: ${why}.`,
    nextStep: "Take the model from another prover, and check the id.",
  });
