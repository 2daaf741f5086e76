/** `assay model import FILE`: ONNX to program, with what was decided on the way. */

import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { KEY_FILE } from "../../inference/manifest/assay.ts";
import { defaultTool, importSettings } from "../../inference/manifest/tool.ts";
import { writeModel } from "../../inference/manifest/write.ts";
import { saveModelFolder } from "../../inference/model-folder.ts";
import { type ImportedModel, importOnnx } from "../../inference/onnx/import.ts";
import { elementCount } from "../../inference/program/form.ts";
import { lastStep } from "../../inference/program/shape.ts";
import { printResult, withJson } from "../output.ts";
import { type ImportFlags, importSettingsOf, withImportOptions } from "./options.ts";
import { readBytes, readTool } from "./resolve.ts";

interface Flags extends ImportFlags {
  readonly out?: string;
  readonly tool?: string;
}

export function addImportCommand(parent: Command): void {
  const command = parent
    .command("import <file>")
    .description("lower an ONNX file to a program; lists every node that cannot be lowered")
    .option("--out <dir>", "write a model folder")
    .option(
      "--tool <file>",
      "tool.json with name, description, version, abi; default: the one beside the file",
    );
  withJson(withImportOptions(command)).action((file: string, flags: Flags, self: Command) => {
    const onnx = readBytes(file);
    const beside = join(dirname(file), "tool.json");
    const path = flags.tool ?? (existsSync(beside) ? beside : undefined);
    const tool = path === undefined ? undefined : readTool(path);
    const fromTool = tool === undefined ? {} : importSettings(tool);
    const flagged = importSettingsOf(flags);
    const dims = new Map([...(fromTool.dims ?? []), ...(flagged.dims ?? [])]);
    const imported = importOnnx(onnx, { ...fromTool, ...flagged, dims });
    const { program } = imported.model;
    const words = elementCount(lastStep(program).dims);
    const name = basename(dirname(resolve(file)));
    const described = tool ?? defaultTool(name, program.inputCodec, program.outputCodec, words);
    const extra = new Map(
      ["README.md", "eval.json", KEY_FILE]
        .filter((f) => existsSync(join(dirname(file), f)))
        .map((f) => [f, readBytes(join(dirname(file), f))]),
    );
    const written = writeModel(onnx, imported, described, extra);
    if (flags.out !== undefined) saveModelFolder(flags.out, written.manifest, written.files);
    const { assay } = written.manifest;
    const result = {
      modelId: assay.modelId,
      out: flags.out,
      codec: assay.codec,
      steps: program.steps.length,
      weightBytes: imported.model.weights.reduce((sum, w) => sum + w.length, 0),
      requantizations: imported.requantizations,
      trees: imported.trees,
      notes: imported.notes,
    };
    printResult(self, result, [
      `model ${assay.modelId}`,
      `${result.steps} steps, ${result.weightBytes} bytes of weights, codec ${program.inputCodec} → ${program.outputCodec}`,
      ...requantizationLines(imported),
      ...treeLines(imported),
      ...imported.notes.map((note) => `note: ${note}`),
      ...(flags.out === undefined ? ["nothing written (give --out DIR)"] : [`written to ${flags.out}`]),
    ]);
  });
}

export function requantizationLines({ requantizations }: ImportedModel): string[] {
  return requantizations.flatMap((r) => {
    const missing =
      r.without.length === 0 ? "" : `; no integer form in channels ${r.without.join(", ")} (try --nudge)`;
    const nudges = r.nudges.map(
      (n) =>
        `  channel ${n.channel}: scale ${n.from} moved to ${n.to} (${((n.to / n.from - 1) * 1e6).toFixed(2)} ppm)`,
    );
    return [`requantization ${r.node}: ${r.form}, ${r.channels} channel(s)${missing}`, ...nudges];
  });
}

export function treeLines({ trees }: ImportedModel): string[] {
  const off = (bound: number): string => (bound === 0 ? "exactly" : `within ${bound.toExponential(1)} of`);
  return trees.map(({ node, trees: count, leaves, scaleBits, scoreBound, probabilityBound }) => {
    const probability =
      probabilityBound === undefined ? "" : `, probabilities ${off(probabilityBound)} those of these sums`;
    return `trees ${node}: ${count} with ${leaves} leaves in units of 2^${-scaleBits}; scores are ${off(scoreBound)} the sums of the file's leaves${probability}`;
  });
}
