/** `assay metadata …`: validate, compare and make the metadata of agents. */
import type { Command } from "commander";
import { releaseFaults } from "../agent/metadata/compare.ts";
import { abiFromSolidity } from "../agent/metadata/from-solidity.ts";
import { readMetadata, requireMetadata } from "../agent/metadata/read.ts";
import { toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { selectorOf, signatureOf } from "../inference/manifest/abi.ts";
import { readNamedFile } from "./named-file.ts";
import { printResult, toJson, withJson } from "./output.ts";

export function addMetadataCommands(program: Command): void {
  const parent = program.command("metadata").description("validate, compare and make the metadata of agents");
  addValidate(parent);
  addCompare(parent);
  addFromSolidity(parent);
}

function addValidate(parent: Command): void {
  const command = parent
    .command("validate")
    .description("report every broken rule of a metadata file, with its place")
    .argument("<file>", "metadata JSON");
  withJson(command).action((file: string, _options: unknown, self: Command) => {
    const { metadata, errors, warnings } = readMetadata(readNamedFile(file));
    const methods = (metadata?.abi ?? []).map((f) => ({
      selector: toHex(selectorOf(f)),
      signature: signatureOf(f),
    }));
    const lines = [
      ...errors.map((e) => `error: ${e.path}: ${e.message} (${e.rule})`),
      ...warnings.map((w) => `warning: ${w.path}: ${w.message} (${w.rule})`),
      ...methods.map((m) => `${m.selector} ${m.signature}`),
    ];
    const ok = errors.length === 0;
    printResult(self, { file, ok, errors, warnings, methods }, lines);
    if (ok) return;
    throw new BaseError({
      code: "METADATA_INVALID",
      shortMessage: `${file} breaks ${errors.length} rule(s).`,
      nextStep: "Correct what is listed; docs/AGENT-METADATA.md has the rules.",
      details: { errors: errors.length },
    });
  });
}

function addCompare(parent: Command): void {
  const command = parent
    .command("compare")
    .description("check that the version of a release says what changed since another")
    .argument("<old>", "metadata JSON of the release before")
    .argument("<new>", "metadata JSON of the release after");
  withJson(command).action((before: string, after: string, _options: unknown, self: Command) => {
    const [from, to] = [before, after].map((file) => requireMetadata(readNamedFile(file), file)) as [
      ReturnType<typeof requireMetadata>,
      ReturnType<typeof requireMetadata>,
    ];
    const faults = releaseFaults(from, to);
    const ok = faults.length === 0;
    const summary = `${from.version} -> ${to.version}: ${ok ? "the version fits the changes" : "it does not fit"}`;
    printResult(self, { ok, from: from.version, to: to.version, faults }, [summary, ...faults]);
    if (ok) return;
    throw new BaseError({
      code: "VERSION_UNFIT",
      shortMessage: `Version ${to.version} does not fit the changes since ${from.version}: ${faults.join("; ")}.`,
      nextStep: "Raise the major version for removed or changed methods, the minor one for new methods.",
      details: { faults },
    });
  });
}

function addFromSolidity(parent: Command): void {
  const command = parent
    .command("from-solidity")
    .description("print the abi of a Solidity interface as metadata holds it")
    .argument("<file>", "Solidity source; imports are read from its folder")
    .option("--contract <name>", "which contract, if the file has several with functions");
  withJson(command).action((file: string, options: { contract?: string }, self: Command) => {
    readNamedFile(file);
    const made = abiFromSolidity(file, options.contract);
    printResult(self, made, [toJson(made.abi)]);
  });
}
