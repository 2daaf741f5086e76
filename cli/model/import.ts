/** `assay model import FILE`: ONNX to program, with what was decided on the way. */

import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { LANES, type Lane } from "../../inference/manifest/assay.ts";
import { importModel } from "../../inference/manifest/import-model.ts";
import { saveModelFolder, sha256Bytes } from "../../inference/model-folder.ts";
import type { ImportedModel } from "../../inference/onnx/import.ts";
import { whyNotExecuted } from "../../inference/program/form.ts";
import { lastStep } from "../../inference/program/shape.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { collect, type ImportFlags, importSettingsOf, withImportOptions } from "./options.ts";
import { companionsIn, readBytes, readTool } from "./resolve.ts";

interface Flags extends ImportFlags {
  readonly out?: string;
  readonly tool?: string;
  readonly lane: readonly string[];
}

export function addImportCommand(parent: Command): void {
  const command = parent
    .command("import <file>")
    .description("lower an ONNX file to a program; lists every node that cannot be lowered")
    .option("--out <dir>", "write a model folder")
    .option(
      "--tool <file>",
      "tool.json with name, description, version, abi; default: the one beside the file",
    )
    .option(
      "--lane <name>",
      `${LANES.join(", ")}; repeatable (default: those of tool.json, else BOND)`,
      collect,
      [],
    );
  withJson(withImportOptions(command)).action((file: string, flags: Flags, self: Command) => {
    const onnx = readBytes(file);
    const beside = join(dirname(file), "tool.json");
    const path = flags.tool ?? (existsSync(beside) ? beside : undefined);
    const tool = path === undefined ? undefined : readTool(path);
    const source = {
      onnx,
      name: basename(dirname(resolve(file))),
      tool,
      settings: importSettingsOf(flags),
      lanes: lanesOf(flags.lane),
      companions: companionsIn(dirname(file)),
    };
    const { imported, written } = importModel(source, sha256Bytes);
    const { program } = imported.model;
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
      notes: [...imported.notes, ...laneNotes(imported, assay.lanes)],
    };
    printResult(self, result, [
      `model ${assay.modelId}`,
      `${result.steps} steps, ${result.weightBytes} bytes of weights, codec ${program.inputCodec} → ${program.outputCodec}`,
      ...claimedLines(imported),
      ...requantizationLines(imported),
      ...treeLines(imported),
      ...result.notes.map((note) => `note: ${note}`),
      ...(flags.out === undefined ? ["nothing written (give --out DIR)"] : [`written to ${flags.out}`]),
    ]);
  });
}

/** Lanes that the program cannot have. */
function laneNotes({ model }: ImportedModel, lanes: readonly Lane[]): string[] {
  const why = whyNotExecuted(model.program);
  if (why === undefined || !lanes.includes("EXECUTION")) return [];
  return [`${why}: a registry refuses the lane EXECUTION; take --lane BOND, or docs/IMPORT.md's other forms`];
}

/** @returns undefined where none is named @throws ARGUMENT_INVALID */
function lanesOf(names: readonly string[]): readonly Lane[] | undefined {
  const strange = names.find((name) => !(LANES as readonly string[]).includes(name));
  if (strange !== undefined) refuseArgument("--lane", strange, LANES.join(", "));
  return names.length === 0 ? undefined : LANES.filter((lane) => names.includes(lane));
}

/** What the program reads in place of calldata. */
export function claimedLines({ io, model }: Pick<ImportedModel, "io" | "model">): string[] {
  if (io.claimed === undefined) return [];
  const { name, type, dims } = io.claimed;
  const [rows] = lastStep(model.program).dims;
  return [
    `${name} (${type} [${dims}]) is the claimed output: ${rows} row(s), each proven to read earlier ones alone`,
  ];
}

export function requantizationLines({ requantizations }: Pick<ImportedModel, "requantizations">): string[] {
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
