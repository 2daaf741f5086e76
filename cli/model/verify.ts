/** `assay model verify MODEL`: everything that a folder claims about itself. */

import type { Command } from "commander";
import { equalBytes, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { imageOf, joinWeights } from "../../inference/manifest/model-files.ts";
import { validateManifest } from "../../inference/manifest/validate.ts";
import type { Meaning } from "../../inference/meaning/form.ts";
import { archiveFiles, checkFiles, loadModelFolder, sha256Bytes } from "../../inference/model-folder.ts";
import { importOnnx } from "../../inference/onnx/import.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { selfTestHash } from "../../inference/self-test.ts";
import { isProofModelFolder } from "../../prover/proof/ezkl/folder.ts";
import { ezklOptionsOf, withEzklSettings } from "../ezkl-options.ts";
import { modelFolder } from "../model-source.ts";
import { printResult, withJson } from "../output.ts";
import { settingsOf } from "./resolve.ts";
import { type Check, verifyProofModel } from "./verify-proof-model.ts";

export function addVerifyCommand(parent: Command): void {
  const command = parent
    .command("verify <model>")
    .description("check a model folder: hashes, structure, proofs, self-tests");
  withJson(withEzklSettings(command)).action(async (name: string, _flags: unknown, self: Command) => {
    const directory = modelFolder(name);
    const checks = isProofModelFolder(directory)
      ? await verifyProofModel(directory, ezklOptionsOf(self))
      : verifyFolder(directory);
    const failed = checks.filter((c) => !c.ok);
    printResult(self, { directory, ok: failed.length === 0, checks }, checks.map(line));
    if (failed.length > 0) {
      throw new BaseError({
        code: "MODEL_MISMATCH",
        shortMessage: `${failed.length} of ${checks.length} checks of ${directory} failed: ${failed.map((c) => c.name).join(", ")}.`,
        nextStep: "Import the model again with assay model import --out.",
        details: { failed: failed.map(line) },
      });
    }
  });
}

const line = (c: Check): string =>
  `${c.skipped === true ? "skip" : c.ok ? "ok  " : "FAIL"} ${c.name}: ${c.detail}`;

/** The folder would not have loaded with one that does not fit its output. */
const meaningDetail = (meaning: Meaning | undefined): string =>
  meaning === undefined ? "none: its output is shown as numbers" : `${meaning.kind}, fits the output`;

/** @throws as loadModelFolder, for a folder that cannot be loaded at all */
export function verifyFolder(directory: string): Check[] {
  const loaded = loadModelFolder(directory);
  const { manifest, model, onnx, selector } = loaded;
  const { assay } = manifest;
  checkFiles(directory, manifest);
  const again = importOnnx(onnx, settingsOf(assay));
  const program = equalBytes(encodeProgram(again.model.program), encodeProgram(model.program));
  const weights = equalBytes(joinWeights(again.model), joinWeights(model));
  const image = imageOf(archiveFiles(directory), sha256Bytes);
  const prepared = prepare(model, selector);
  const tests = assay.selfTest.filter(
    ({ seed, outputHash }) => toHex(selfTestHash(prepared, seed)) === outputHash,
  );
  const { warnings } = validateManifest(manifest);
  return [
    { name: "manifest", ok: true, detail: `valid, ${warnings.length} warning(s)` },
    { name: "files", ok: true, detail: `${Object.keys(assay.files).length} files have their sha256` },
    { name: "modelId", ok: true, detail: loaded.modelId },
    { name: "profile", ok: true, detail: `${loaded.profile.steps.length} steps proven` },
    { name: "meaning", ok: true, detail: meaningDetail(assay.meaning) },
    { name: "import", ok: program && weights, detail: "model.onnx imports to program.bin and weights.bin" },
    { name: "container_image", ok: image === manifest.container_image, detail: image },
    {
      name: "self-tests",
      ok: tests.length === assay.selfTest.length,
      detail: `${tests.length} of ${assay.selfTest.length} outputs are as the manifest says`,
    },
  ];
}
