/** `assay proof ezkl`: float models whose outputs only a proof makes final. */
import { existsSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { Command } from "commander";
import { type Address, isAddress } from "viem";
import { fromHex, toHex } from "../../inference/bytes.ts";
import type { ToolDescription } from "../../inference/manifest/tool.ts";
import { CHAIN_SETTINGS, integer, loadConfig, type Settings, text } from "../../protocol/config.ts";
import { addEzklModel } from "../../prover/proof/ezkl/add.ts";
import { loadProofModel, type ProofModel } from "../../prover/proof/ezkl/folder.ts";
import { installEzkl } from "../../prover/proof/ezkl/install.ts";
import { bindingOf, encodeCalldata, outputNumbers } from "../../prover/proof/ezkl/instances.ts";
import type { EzklOptions, StageCost } from "../../prover/proof/ezkl/keys.ts";
import { proveEzkl, verifyEzkl } from "../../prover/proof/ezkl/prove.ts";
import { fromFixedPoint, toFixedPoint } from "../../prover/proof/ezkl/values.ts";
import { CALIBRATION_TARGETS, type CalibrationTarget } from "../../prover/proof/ezkl/worker.ts";
import { withSettings } from "../chain.ts";
import { readBytes, readJson, readTool } from "../model/resolve.ts";
import { modelFolder } from "../model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "../output.ts";
import { compileVerifier } from "./compile-verifier.ts";

const EZKL_SETTINGS = {
  data: CHAIN_SETTINGS.data,
  timeoutMs: {
    schema: integer(1_000, 86_400_000),
    default: 1_800_000,
    description: "most time of one stage, ms",
  },
  srs: { schema: text, description: "SRS file of a ceremony; default: the development SRS" },
} as const satisfies Settings;

export function addEzklCommands(proof: Command): void {
  const ezkl = proof.command("ezkl").description("float models, proven by ezkl (Python)");
  addInstall(ezkl);
  addAdd(ezkl);
  addProve(ezkl);
  addVerify(ezkl);
}

function addInstall(parent: Command): void {
  const command = parent
    .command("install")
    .description("install ezkl into the data folder, in a Python environment of its own; harmless to repeat")
    .option("--python <program>", "interpreter, 3.9 or later", "python3");
  withJson(withSettings(command, { data: EZKL_SETTINGS.data })).action(
    async ({ python }: { python: string }, self: Command) => {
      const { folder } = optionsOf(self);
      const installed = await installEzkl({ folder, python, onProgress: printProgress });
      printResult(self, { folder, ...installed }, [
        `ezkl ${installed.version} is in ${folder}${installed.isNew ? "" : ", installed before"}`,
      ]);
    },
  );
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
  withJson(withSettings(command, EZKL_SETTINGS)).action(
    async (file: string, flags: AddFlags, self: Command) => {
      const onnx = readBytes(file);
      const name = nameOf(file);
      const directory = flags.out ?? join("models", name);
      const beside = (other: string): string | undefined =>
        existsSync(join(dirname(file), other)) ? join(dirname(file), other) : undefined;
      const toolFile = beside("tool.json");
      const manifest = await addEzklModel({
        ...optionsOf(self),
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
    },
  );
}

interface ProveFlags {
  readonly inputs: string;
  readonly chain: string;
  readonly adapter: string;
  readonly submitter: string;
  readonly output?: string;
  readonly proof?: string;
}

function withBinding(command: Command): Command {
  return command
    .requiredOption("--inputs <file>", "JSON object with numbers by input name")
    .requiredOption("--chain <id>", "chain id that the proof is for")
    .requiredOption("--adapter <address>", "contract that checks proofs there")
    .requiredOption("--submitter <address>", "account that will settle with it");
}

function addProve(parent: Command): void {
  const command = withBinding(
    parent.command("prove <model>").description("compute an output and prove it for one submitter"),
  );
  withJson(withSettings(command, EZKL_SETTINGS)).action(
    async (name: string, flags: ProveFlags, self: Command) => {
      const model = loadProofModel(modelFolder(name));
      const calldata = calldataOf(model, flags);
      const { output, proof, seconds } = await proveEzkl(
        optionsOf(self),
        model,
        calldata,
        bindingOf(bindingFlags(model, flags)),
      );
      const numbers = outputNumbers(fromHex(output));
      const values = fromFixedPoint(model.manifest.assay.outputs, numbers);
      printResult(
        self,
        { modelId: model.modelId, calldata: toHex(calldata), output, proof, seconds, values },
        [
          ...Object.entries(values).map(([key, held]) => `${key}: ${held.join(" ")}`),
          `proof of ${proof.length / 2 - 1} bytes in ${seconds.toFixed(1)} s; --json prints it`,
        ],
      );
    },
  );
}

function addVerify(parent: Command): void {
  const command = withBinding(
    parent.command("verify <model>").description("verify a proof of an output with ezkl"),
  )
    .requiredOption("--output <hex>", "return data")
    .requiredOption("--proof <hex>", "the proof");
  withJson(withSettings(command, EZKL_SETTINGS)).action(
    async (name: string, flags: ProveFlags, self: Command) => {
      const model = loadProofModel(modelFolder(name));
      const valid = await verifyEzkl(
        optionsOf(self),
        model,
        calldataOf(model, flags),
        fromHex(flags.output ?? ""),
        fromHex(flags.proof ?? ""),
        bindingOf(bindingFlags(model, flags)),
      );
      printResult(self, { modelId: model.modelId, valid }, [
        valid ? "the proof is valid" : "the proof is INVALID",
      ]);
      if (!valid) process.exitCode = 1;
    },
  );
}

function calldataOf(model: ProofModel, { inputs }: ProveFlags): Uint8Array {
  const { assay } = model.manifest;
  const values = readJson(inputs) as Record<string, unknown>;
  return encodeCalldata(fromHex(assay.selector), toFixedPoint(assay.inputs, values));
}

function bindingFlags({ modelId }: ProofModel, { chain, adapter, submitter }: ProveFlags) {
  const chainId = Number(chain);
  if (!Number.isSafeInteger(chainId) || chainId < 1) refuseArgument("--chain", chain, "a chain id");
  return {
    chainId,
    modelId,
    adapter: addressOf("--adapter", adapter),
    submitter: addressOf("--submitter", submitter),
  };
}

function addressOf(flag: string, value: string): Address {
  return isAddress(value) ? value : refuseArgument(flag, value, "an address");
}

/** Data folder, limits and progress from a command's flags and the configuration. */
function optionsOf(command: Command): EzklOptions {
  const config = loadConfig(EZKL_SETTINGS, { flags: command.optsWithGlobals(), env: process.env });
  const report = ({ name, seconds }: StageCost): void => printProgress(`${name}: ${seconds.toFixed(1)} s`);
  return {
    folder: resolve(config.data, "ezkl"),
    timeoutMs: config.timeoutMs,
    onStage: report,
    ...(config.srs === undefined ? {} : { srs: resolve(config.srs) }),
  };
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
