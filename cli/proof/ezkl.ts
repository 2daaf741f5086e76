/** `assay proof ezkl`: float models whose outputs only a proof makes final. What is common to all proofs, `prove`,
 *  `verify` and `assay settle`, takes them as it takes other models. */
import { existsSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { Command } from "commander";
import type { ToolDescription } from "../../inference/manifest/tool.ts";
import { addEzklModel } from "../../prover/proof/ezkl/add.ts";
import { installEzkl } from "../../prover/proof/ezkl/install.ts";
import { CALIBRATION_TARGETS, type CalibrationTarget } from "../../prover/proof/ezkl/worker.ts";
import { ezklOptionsOf, withEzklSettings } from "../ezkl-options.ts";
import { readBytes, readJson, readTool } from "../model/resolve.ts";
import { printProgress, printResult, refuseArgument, withJson } from "../output.ts";
import { compileVerifier } from "./compile-verifier.ts";

export function addEzklCommands(proof: Command): void {
  const ezkl = proof.command("ezkl").description("float models, proven by ezkl (Python)");
  addInstall(ezkl);
  addAdd(ezkl);
}

function addInstall(parent: Command): void {
  const command = parent
    .command("install")
    .description("install ezkl into the data folder, in a Python environment of its own; harmless to repeat")
    .option("--python <program>", "interpreter, 3.9 or later", "python3");
  withJson(withEzklSettings(command)).action(async ({ python }: { python: string }, self: Command) => {
    const { folder } = ezklOptionsOf(self);
    const installed = await installEzkl({ folder, python, onProgress: printProgress });
    printResult(self, { folder, ...installed }, [
      `ezkl ${installed.version} is in ${folder}${installed.isNew ? "" : ", installed before"}`,
    ]);
  });
}

interface AddFlags {
  readonly out?: string;
  readonly calibration?: string;
  readonly range?: string;
  readonly target: string;
  readonly scales?: string;
  readonly settings?: string;
  readonly dim: readonly string[];
}

function addAdd(parent: Command): void {
  const command = parent
    .command("add <file>")
    .description("make a model folder from a float ONNX file: circuit, keys, verifier contract")
    .option("--out <dir>", "the folder; default models/<name of the file>")
    .option("--calibration <file>", "JSON array of samples {input: numbers}; default: random numbers")
    .option("--range <low:high>", "range of the inputs (default -1:1 without calibration data)")
    .option("--target <what>", `what calibration prefers: ${CALIBRATION_TARGETS.join(", ")}`, "resources")
    .option("--scales <bits>", "fraction bits to choose from, separated by commas")
    .option("--settings <file>", "settings.json of an earlier run instead of a calibration")
    .option("--dim <NAME=N>", "size of a symbolic dim (default 1); repeatable", collect, []);
  withJson(withEzklSettings(command)).action(async (file: string, flags: AddFlags, self: Command) => {
    const onnx = readBytes(file);
    const name = nameOf(file);
    const directory = flags.out ?? join("models", name);
    const beside = (other: string): string | undefined =>
      existsSync(join(dirname(file), other)) ? join(dirname(file), other) : undefined;
    const toolFile = beside("tool.json");
    const manifest = await addEzklModel({
      ...ezklOptionsOf(self),
      name,
      directory,
      onnx,
      compile: compileVerifier,
      dims: new Map(flags.dim.map(dimOf)),
      target: targetOf(flags.target),
      extra: new Map(
        ["README.md", "eval.json"].flatMap((other) => {
          const path = beside(other);
          return path === undefined ? [] : [[other, readBytes(path)] as const];
        }),
      ),
      ...(toolFile === undefined ? {} : { tool: readTool(toolFile) as ToolDescription }),
      ...(flags.calibration === undefined ? {} : { calibration: readJson(flags.calibration) }),
      ...(flags.range === undefined ? {} : { range: rangeOf(flags.range) }),
      ...(flags.scales === undefined ? {} : { scales: flags.scales.split(",").map(bitsOf) }),
      ...(flags.settings === undefined ? {} : { settings: readBytes(flags.settings) }),
    });
    const { modelId, ezkl, inputs, outputs } = manifest.assay;
    printResult(self, { modelId, directory, ezkl, inputs, outputs }, [
      `model ${modelId}, written to ${directory}`,
      `2^${ezkl.logrows} rows, ${ezkl.srs} SRS, ${inputs.map((i) => `${i.name} × 2^${i.scaleBits}`).join(", ")} in`,
      ...(ezkl.srs === "development" ? ["development keys: anybody can forge proofs with them"] : []),
    ]);
  });
}

const collect = (value: string, all: readonly string[]): string[] => [...all, value];

/** models/x/model.onnx is x, x.onnx as well. */
function nameOf(file: string): string {
  const stem = basename(file, extname(file));
  return stem === "model" ? basename(dirname(resolve(file))) : stem;
}

function dimOf(flag: string): readonly [string, number] {
  const [, name = "", size = ""] = /^(.+)=([1-9]\d*)$/.exec(flag) ?? [];
  return name === "" ? refuseArgument("--dim", flag, "NAME=N with N at least 1") : [name, Number(size)];
}

function targetOf(value: string): CalibrationTarget {
  const known = CALIBRATION_TARGETS.find((target) => target === value);
  return known ?? refuseArgument("--target", value, CALIBRATION_TARGETS.join(", "));
}

function rangeOf(value: string): [number, number] {
  const [low = Number.NaN, high = Number.NaN, ...more] = value.split(":").map(Number);
  if (low < high && more.length === 0) return [low, high];
  return refuseArgument("--range", value, "two numbers low:high");
}

function bitsOf(value: string): number {
  const bits = Number(value);
  return Number.isInteger(bits) && bits >= 0 && bits <= 15
    ? bits
    : refuseArgument("--scales", value, "numbers from 0 to 15");
}
