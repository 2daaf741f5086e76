/** Prints docs/IMPORT.md's table of public model files: what import says of each, and how the result compares with
 *  onnxruntime on the file itself, graph optimization off.
 *
 *      npx tsx bench/public-models.ts FOLDER [PART OF A PATH]
 *
 *  bench/public-models.json names the files; nothing is downloaded. FOLDER has each as SOURCE/PATH. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tensor as OrtTensor } from "onnxruntime-node";
import { isBaseError } from "../base/errors.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { type NamedTensors, runNamed } from "../inference/model-values.ts";
import type { OnnxValueInfo } from "../inference/onnx/graph.ts";
import { type ImportedModel, type ImportSettings, importOnnx } from "../inference/onnx/import.ts";
import { readOnnx } from "../inference/onnx/read.ts";
import type { Model } from "../inference/program/form.ts";
import { estimateInferenceGas, MAX_TRANSACTION_GAS } from "../protocol/chain/execution/cost.ts";
import { circuitSize } from "../prover/proof/groth16/compile.ts";
import { createRng, type Rng } from "../test/support/rng.ts";
import { openSession } from "../test/support/session.ts";
import { projectRoot } from "../tools/foundry.ts";

interface PublicModel {
  /** owner/name of a repository on GitHub, or pypi/NAME of a package. */
  readonly source: string;
  /** Commit or version. */
  readonly version: string;
  readonly path: string;
  readonly sha256: string;
  /** "none stated" where the source has none: such a file may not be passed on. */
  readonly licence: string;
  readonly import?: {
    readonly dims?: Readonly<Record<string, number>>;
    readonly inputTypes?: Readonly<Record<string, string>>;
    readonly keep?: readonly string[];
  };
  /** Least and largest number of an input, ±4 by default; of integers 0 to 100. */
  readonly ranges?: Readonly<Record<string, readonly [number, number]>>;
}

const RUNS = 50;
const [folder, part = ""] = process.argv.slice(2);

function settingsOf({ import: given = {} }: PublicModel): ImportSettings {
  const { dims = {}, inputTypes = {}, keep } = given;
  return {
    dims: new Map(Object.entries(dims)),
    inputTypes: new Map(Object.entries(inputTypes)),
    ...(keep === undefined ? {} : { keep }),
  };
}

const optionsOf = ({ import: given = {} }: PublicModel): string =>
  [
    ...Object.entries(given.dims ?? {}).map(([name, size]) => `--dim ${name}=${size}`),
    ...Object.entries(given.inputTypes ?? {}).map(([name, type]) => `--input-type ${name}=${type}`),
    ...(given.keep ?? []).map((name) => `--keep ${name}`),
  ]
    .map((option) => ` \`${option}\``)
    .join("");

/** Lanes that can answer for a model, by its gas and its circuit. */
function lanesOf(model: Model): string {
  const lanes = ["bond"];
  if (estimateInferenceGas(model.program) <= MAX_TRANSACTION_GAS) lanes.push("execution");
  try {
    circuitSize(model);
    lanes.push("proof");
  } catch (error) {
    if (!isBaseError(error)) throw error;
  }
  return lanes.join(", ");
}

/** The reasons of a refusal, the most frequent one first, by operators and their number. */
function reasonOf(message: string): string {
  const [head = "", ...lines] = message.split("\n");
  const reasons = new Map<string, Map<string, number>>();
  for (const line of lines) {
    const [, op, reason] = /^.* \(([\w.]+)\): (.*?)\. /.exec(line) ?? [];
    if (op === undefined || reason === undefined) continue;
    const plain = reason.replace(`the operator ${op} is`, "it is");
    const counts = reasons.get(plain) ?? new Map<string, number>();
    counts.set(op, (counts.get(op) ?? 0) + 1);
    reasons.set(plain, counts);
  }
  const sum = (counts: Map<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);
  const [first, ...others] = [...reasons].sort(([, a], [, b]) => sum(b) - sum(a));
  if (first === undefined) return head;
  const [reason, counts] = first;
  const operators = [...counts].map(([op, n]) => `${n} ${op}`).join(", ");
  const more = others.length === 0 ? "" : `; ${others.length} other reason${others.length > 1 ? "s" : ""}`;
  return `${head.replace(" cannot be lowered to a program:", "")}: ${operators}: ${reason}${more}`;
}

function drawn(
  rng: Rng,
  { name, type, dims }: OnnxValueInfo,
  ranges: PublicModel["ranges"],
): NamedTensors[string] {
  const isReal = type === "float32";
  const [low, high] = ranges?.[name] ?? (isReal ? [-4, 4] : type === "bool" ? [0, 1] : [0, 100]);
  const length = dims.reduce((a, b) => a * b, 1);
  const draw = (): number =>
    isReal ? Math.fround(low + ((high - low) * rng.int(0, 2 ** 20)) / 2 ** 20) : rng.int(low, high);
  return { type, dims, data: Array.from({ length }, draw) };
}

const MEMORY = {
  float32: Float32Array,
  int32: Int32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  bool: Uint8Array,
} as const;

function ortTensor({ type, dims, data }: NamedTensors[string]): OrtTensor {
  if (type === "int64") return new OrtTensor("int64", BigInt64Array.from(data, BigInt), dims);
  const name = type as keyof typeof MEMORY;
  return new OrtTensor(name, MEMORY[name].from(data) as Uint8Array, dims);
}

/** Elements whose bits differ, of how many, and by how much at most. */
async function compared(onnx: Uint8Array, imported: ImportedModel, entry: PublicModel): Promise<string> {
  const { dims = {} } = entry.import ?? {};
  const declared = readOnnx(onnx, { dims: new Map(Object.entries(dims)) }).inputs;
  const given = new Map(imported.io.inputs.map((input) => [input.name, input]));
  const session = await openSession(onnx);
  const model = { onnx, io: imported.io, prepared: prepare(imported.model, new Uint8Array(4)) };
  const rng = createRng(19);
  let [all, different, largest] = [0, 0, 0];
  for (let run = 0; run < RUNS; run++) {
    const inputs = Object.fromEntries(declared.map((info) => [info.name, drawn(rng, info, entry.ranges)]));
    const feeds = Object.fromEntries(
      Object.entries(inputs).map(([name, tensor]) => [name, ortTensor(tensor)]),
    );
    const results = await session.run(
      feeds,
      imported.io.outputs.map(({ name }) => name),
    );
    const held = Object.fromEntries(
      Object.entries(inputs).map(([name, tensor]) => [
        name,
        { ...tensor, type: given.get(name)?.type ?? tensor.type },
      ]),
    );
    const { outputs } = runNamed(model, held);
    for (const { name, labels } of imported.io.outputs) {
      const theirs = Array.from(results[name]?.data as ArrayLike<number | bigint | string>);
      outputs[name]?.data.forEach((ours, i) => {
        const other = theirs[i];
        const theirNumber = typeof other === "string" ? (labels ?? []).indexOf(other) : Number(other);
        all++;
        // Only the sign of a zero may differ where docs/EXACT.md says so.
        if (ours === theirNumber) return;
        different++;
        largest = Math.max(largest, Math.abs(ours - theirNumber));
      });
    }
  }
  await session.release();
  const by = different === 0 ? "" : `, by at most ${largest.toPrecision(2)}`;
  return `${different.toLocaleString("en")} of ${all.toLocaleString("en")}${by}`;
}

async function row(entry: PublicModel): Promise<string> {
  const { source, version, path, sha256, licence } = entry;
  const file = join(folder as string, source, path);
  if (!existsSync(file)) return `| ${source} ${version} ${path} | ${licence} | not in the folder | |`;
  const onnx = readFileSync(file);
  const hash = createHash("sha256").update(onnx).digest("hex");
  if (hash !== sha256) throw new Error(`${file} has the SHA-256 ${hash}, ${sha256} is listed`);
  const name = `${source} ${version.slice(0, 8)}: ${path}${optionsOf(entry)}`;
  try {
    const imported = importOnnx(onnx, settingsOf(entry));
    const steps = imported.model.program.steps.length;
    const described = `${steps} step${steps === 1 ? "" : "s"}: ${lanesOf(imported.model)}`;
    return `| ${name} | ${licence} | ${described} | ${await compared(onnx, imported, entry)} |`;
  } catch (error) {
    if (!isBaseError(error)) throw error;
    return `| ${name} | ${licence} | refused: ${reasonOf(error.shortMessage)} | |`;
  }
}

if (folder === undefined) {
  console.error("usage: npx tsx bench/public-models.ts FOLDER [PART OF A PATH]");
  process.exit(1);
}
const list: readonly PublicModel[] = JSON.parse(
  readFileSync(join(projectRoot, "bench", "public-models.json"), "utf8"),
);
console.log("| file | licence | import says | differs from onnxruntime |\n|---|---|---|---|");
for (const entry of list.filter(({ source, path }) => `${source}/${path}`.includes(part)))
  console.log(await row(entry));
