/** `assay model run MODEL --inputs FILE.json`: one inference on named tensors. */

import type { Command } from "commander";
import { BaseError } from "../../base/errors.ts";
import { INT16 } from "../../inference/manifest/numbers.ts";
import { numberCount } from "../../inference/meaning/form.ts";
import { type Reading, readNumbers } from "../../inference/meaning/read.ts";
import {
  type NamedEngine,
  type NamedTensor,
  type NamedTensors,
  namedTensor,
  runNamed,
} from "../../inference/model-values.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { type ImportFlags, importSettingsOf, withImportOptions } from "./options.ts";
import { type OpenedModel, openModel, readJson } from "./resolve.ts";

interface Flags extends ImportFlags {
  readonly inputs: string;
  readonly engine: string;
  readonly trace?: boolean;
}

/** @param engines engines besides the canonical executor, by name */
export function addRunCommand(parent: Command, engines: Readonly<Record<string, NamedEngine>>): void {
  const names = ["canonical", ...Object.keys(engines)];
  const command = parent
    .command("run <model>")
    .description("run a model folder or an ONNX file on tensors {name: {type, dims, data}}")
    .requiredOption("--inputs <file>", "JSON file with the inputs")
    .option("--engine <name>", `one of ${names.join(", ")}`, "canonical")
    .option("--trace", "print the tensor of every step too (canonical only)");
  withJson(withImportOptions(command)).action(async (name: string, flags: Flags, self: Command) => {
    const engine = engines[flags.engine];
    if (engine === undefined && flags.engine !== "canonical")
      refuseArgument("--engine", flags.engine, names.join(", "));
    if (engine !== undefined && flags.trace === true)
      refuseArgument("--trace", flags.engine, "used with --engine canonical");
    const inputs = namedTensors(readJson(flags.inputs), flags.inputs);
    const model = openModel(name, importSettingsOf(flags));
    const run =
      engine === undefined
        ? runNamed(model, inputs)
        : { outputs: await engine.run(model, inputs), trace: [] };
    const meaning = readNamed(model, run.outputs);
    const steps = flags.trace === true ? { trace: run.trace.map(namedTensor) } : {};
    const read = meaning === undefined ? {} : { meaning };
    printResult(self, { engine: flags.engine, ...read, outputs: run.outputs, ...steps }, [
      ...(meaning === undefined ? [] : [meaning.text]),
      ...Object.entries(run.outputs).map(([key, t]) => `${key}: ${t.type} [${t.dims}] ${t.data.join(" ")}`),
      ...(steps.trace ?? []).map((t, i) => `step ${i}: ${t.type} [${t.dims}] ${t.data.join(" ")}`),
    ]);
  });
}

/** What the outputs say, as the codec of the model's folder writes them: int16s saturate. */
function readNamed({ readable, io }: OpenedModel, outputs: NamedTensors): Reading | undefined {
  if (readable?.meaning === undefined) return undefined;
  const numbers = new Array<bigint>(numberCount(readable) ?? 0).fill(0n);
  const saturates = readable.codec.output === "int16s";
  for (const { name, offset } of io.outputs)
    outputs[name]?.data.forEach((value, i) => {
      const written = saturates ? Math.max(INT16.least, Math.min(INT16.most, value)) : value;
      numbers[offset + i] = BigInt(written);
    });
  return readNumbers(readable.meaning, numbers);
}

type BoolOrNumbers = Omit<NamedTensor, "data"> & { readonly data: readonly (number | boolean)[] };

/** @throws INPUT_INVALID */
function namedTensors(value: unknown, path: string): NamedTensors {
  const isTensor = (t: unknown): boolean => {
    if (typeof t !== "object" || t === null) return false;
    const { type, dims, data } = t as Record<string, unknown>;
    const list = (v: unknown, kinds: readonly string[]): boolean =>
      Array.isArray(v) && v.every((n) => kinds.includes(typeof n));
    // true and false, as other tools write bool, besides 1 and 0.
    const elements = type === "bool" ? ["number", "boolean"] : ["number"];
    return typeof type === "string" && list(dims, ["number"]) && list(data, elements);
  };
  if (typeof value !== "object" || value === null || !Object.values(value).every(isTensor)) {
    throw new BaseError({
      code: "INPUT_INVALID",
      shortMessage: `${path} does not hold tensors.`,
      nextStep: 'Write {"name": {"type": "int32", "dims": [1, 2], "data": [1, 2]}}.',
    });
  }
  const tensors = Object.entries(value as Readonly<Record<string, BoolOrNumbers>>);
  return Object.fromEntries(tensors.map(([name, t]) => [name, { ...t, data: t.data.map(Number) }]));
}
