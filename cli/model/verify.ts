/** `assay model verify MODEL`: everything that a folder claims about itself. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { equalBytes, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { derive, liesBeside, openWeights, readRecipe } from "../../inference/derive/recipe.ts";
import type { DerivedText } from "../../inference/derive/tokenizer.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { ValueEntry } from "../../inference/manifest/assay.ts";
import { interfaceOf } from "../../inference/manifest/derive-model.ts";
import { imageOf, joinWeights } from "../../inference/manifest/model-files.ts";
import { validateManifest } from "../../inference/manifest/validate.ts";
import type { Meaning } from "../../inference/meaning/form.ts";
import {
  archiveFiles,
  checkFiles,
  type LoadedModel,
  loadModelFolder,
  sha256Bytes,
} from "../../inference/model-folder.ts";
import { type ImportedModel, importOnnx, type ModelInterface } from "../../inference/onnx/import.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { selfTestHash } from "../../inference/self-test.ts";
import { TOKENIZER_FILES } from "../../inference/text/tokenizer-file.ts";
import { isProofModelFolder } from "../../prover/proof/ezkl/folder.ts";
import { ezklOptionsOf, withEzklSettings } from "../ezkl-options.ts";
import { modelFolder } from "../model-source.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { readBytes, settingsOf } from "./resolve.ts";
import { type Check, verifyProofModel } from "./verify-proof-model.ts";

export function addVerifyCommand(parent: Command): void {
  const command = parent
    .command("verify <model>")
    .description("check a model folder: hashes, structure, proofs, self-tests")
    .option(
      "--from <file>",
      "of a derived model: the file of weights that its recipe names, to derive it again; default: where it lies in the folder",
    );
  withJson(withEzklSettings(command)).action(
    async (name: string, flags: { readonly from?: string }, self: Command) => {
      const directory = modelFolder(name);
      const checks = isProofModelFolder(directory)
        ? await verifyProofModel(directory, ezklOptionsOf(self))
        : verifyFolder(directory, flags.from);
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
    },
  );
}

const line = (c: Check): string =>
  `${c.skipped === true ? "skip" : c.ok ? "ok  " : "FAIL"} ${c.name}: ${c.detail}`;

/** The folder would not have loaded with one that does not fit its output. */
const meaningDetail = (meaning: Meaning | undefined): string =>
  meaning === undefined ? "none: its output is shown as numbers" : `${meaning.kind}, fits the output`;

/** What a manifest tells of a graph's tensors, and an import as well. */
function tensorsOf({ inputs, outputs, claimed }: ModelInterface): string {
  const facts = ({ name, type, dims, offset }: ValueEntry) => ({ name, type, dims, offset });
  const labels = outputs.map(({ labels: words }) => words ?? []);
  const own = claimed && { name: claimed.name, type: claimed.type, dims: claimed.dims };
  return JSON.stringify([inputs.map(facts), outputs.map(facts), labels, own ?? null]);
}

type Made = Pick<ImportedModel, "model" | "io">;

/** Whether the folder's program, weights and tensors are those that are made again. */
function madeChecks({ model, manifest }: LoadedModel, again: Made, name: string, how: string): Check[] {
  const program = equalBytes(encodeProgram(again.model.program), encodeProgram(model.program));
  const weights = equalBytes(joinWeights(again.model), joinWeights(model));
  return [
    { name, ok: program && weights, detail: `${how} to program.bin and weights.bin` },
    tensorsCheck(manifest, again.io, name),
  ];
}

const tensorsCheck = ({ assay }: LoadedModel["manifest"], io: ModelInterface, name: string): Check => ({
  name: "tensors",
  ok: tensorsOf(io) === tensorsOf(assay),
  detail: `names, types, dims and places of inputs and outputs are those of the ${name}`,
});

const importChecks = (loaded: LoadedModel, again: Made): Check[] =>
  madeChecks(loaded, again, "import", "model.onnx imports");

/** @param given the file of weights that recipe.json names; default: where it lies in the folder */
function derivationChecks(loaded: LoadedModel, given: string | undefined): Check[] {
  const recipe = readRecipe(loaded.source.content);
  const { source } = recipe.scales;
  const beside = join(loaded.directory, source.file);
  const from = given ?? (liesBeside(source) && existsSync(beside) ? beside : undefined);
  if (from === undefined) {
    const detail = `not made again from ${source.file}: give it with --from`;
    const derivation = { name: "derivation", ok: true, skipped: true, detail } as const;
    return [derivation, tensorsCheck(loaded.manifest, interfaceOf(recipe, loaded.model.program), "recipe")];
  }
  const { model, text } = derive(recipe, openWeights(source, readBytes(from), sha256Bytes));
  const made = madeChecks(
    loaded,
    { model, io: interfaceOf(recipe, model.program) },
    "derivation",
    "recipe.json derives",
  );
  return [...made, tokenizerCheck(loaded, text)];
}

/** Whether the folder's tokenizer is the one of the file of weights. */
function tokenizerCheck({ tokenizer }: LoadedModel, text: DerivedText): Check {
  const name = "tokenizer";
  if ("without" in text) {
    const detail = tokenizer === undefined ? `none: ${text.without}` : `is there, and ${text.without}`;
    return { name, ok: tokenizer === undefined, detail };
  }
  if (tokenizer === undefined)
    return {
      name,
      ok: false,
      detail: "is absent, and the file of weights has a tokenizer: derive the model again",
    };
  const other = TOKENIZER_FILES.find((file) => !equalBytes(tokenizer[file], text.files[file]));
  const detail = `the file of weights gives ${other === undefined ? "the same text" : `another ${other}`}`;
  return { name, ok: other === undefined, detail };
}

/** @param from of a derived model: its file of weights, to derive it again
 *  @throws as loadModelFolder, for a folder that cannot be loaded at all */
export function verifyFolder(directory: string, from?: string): Check[] {
  const loaded = loadModelFolder(directory);
  const { manifest, model, source, selector, profile } = loaded;
  const { assay } = manifest;
  if (from !== undefined && source.name !== "recipe.json")
    refuseArgument("--from", from, `for a derived model only; ${source.name} is the source of this one`);
  checkFiles(directory, manifest);
  const archive = archiveFiles(directory);
  const image = imageOf(archive, sha256Bytes);
  const strays = [...archive.keys()].filter((name) => assay.files[name] === undefined);
  const prepared = prepare(model, selector, profile);
  const tests = assay.selfTest.filter(
    ({ seed, outputHash }) => toHex(selfTestHash(prepared, seed)) === outputHash,
  );
  const { warnings } = validateManifest(manifest);
  return [
    { name: "manifest", ok: true, detail: `valid, ${warnings.length} warning(s)` },
    {
      name: "files",
      ok: strays.length === 0,
      detail:
        strays.length === 0
          ? `${Object.keys(assay.files).length} files have their sha256`
          : `${strays.join(", ")} of another model: not in manifest.json, move it elsewhere`,
    },
    { name: "modelId", ok: true, detail: loaded.modelId },
    { name: "profile", ok: true, detail: `${loaded.profile.steps.length} steps proven` },
    { name: "meaning", ok: true, detail: meaningDetail(assay.meaning) },
    ...(source.name === "recipe.json"
      ? derivationChecks(loaded, from)
      : importChecks(loaded, importOnnx(source.content, settingsOf(assay)))),
    { name: "container_image", ok: image === manifest.container_image, detail: image },
    {
      name: "self-tests",
      ok: tests.length > 0 && tests.length === assay.selfTest.length,
      detail: `${tests.length} of ${assay.selfTest.length} outputs are as the manifest says`,
    },
  ];
}
