/** Makes a model folder from a float ONNX file: settings, calibration, keys, verifier, manifest. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, keccak256 } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { selectorOf } from "../../../inference/manifest/abi.ts";
import { checkedAny } from "../../../inference/manifest/model-files.ts";
import {
  type FixedPointEntry,
  identityFields,
  type ProofManifest,
  type ProofModelSection,
  proofModelIdentity,
} from "../../../inference/manifest/proof-model.ts";
import { DEFAULT_WINDOWS, type ToolDescription } from "../../../inference/manifest/tool.ts";
import { saveModelFolder, sha256 } from "../../../inference/model-folder.ts";
import type { ReadOptions } from "../../../inference/onnx/read.ts";
import { calibrationData, candidateScales, randomSamples, readSamples } from "./calibration.ts";
import { type CircuitOnnx, circuitOnnx } from "./circuit-onnx.ts";
import { checkFunction, proofImageOf, type VerifierFile } from "./folder.ts";
import { MAX_OUTPUTS } from "./instances.ts";
import { type EzklKey, elementsOf, encodeKey } from "./key.ts";
import {
  type CircuitKeys,
  type EzklOptions,
  type EzklSettings,
  makeKeys,
  parseSettings,
  stage,
  workerOf,
} from "./keys.ts";
import { withScratch } from "./prove.ts";
import { assertPure } from "./pure-code.ts";
import { type CalibrationTarget, runStage } from "./worker.ts";

/** Compiles ezkl's Solidity; the caller has the compiler. */
export type CompileVerifier = (solidity: string) => Promise<CompiledVerifier>;

export interface CompiledVerifier {
  /** name, version and settings */
  readonly compiler: string;
  readonly initCode: Hex;
  /** runtime code */
  readonly code: Hex;
}

export interface AddOptions extends EzklOptions {
  readonly name: string;
  readonly directory: string;
  readonly onnx: Uint8Array;
  readonly compile: CompileVerifier;
  readonly dims?: ReadOptions["dims"];
  readonly tool?: ToolDescription;
  readonly target?: CalibrationTarget;
  /** candidates for fraction bits */
  readonly scales?: readonly number[];
  /** parsed JSON (calibration.ts); default: random numbers within the range */
  readonly calibration?: unknown;
  /** of all inputs; default -1 to 1, or what the calibration data has */
  readonly range?: readonly [number, number];
  readonly maxLogrows?: number;
  /** README.md and eval.json, where there are any */
  readonly extra?: ReadonlyMap<string, Uint8Array>;
  /** settings of an earlier run: no calibration */
  readonly settings?: Uint8Array;
}

const MAX_LOGROWS = 20;

/** Nothing is written to `directory` before everything is made and checked.
 *  @throws BaseError as its parts do; EZKL_MODEL_REFUSED for too many outputs */
export async function addEzklModel(options: AddOptions): Promise<ProofManifest> {
  const circuit = circuitOnnx(options.onnx, options.dims ?? new Map());
  const settingsBytes = options.settings ?? (await calibrate(options, circuit));
  const settings = parseSettings(settingsBytes);
  const tensors = tensorsOf(circuit, settings);
  const outputs = tensors.outputs.reduce((sum, { dims }) => sum + elements(dims), 0);
  if (outputs > MAX_OUTPUTS) {
    throw new BaseError({
      code: "EZKL_MODEL_REFUSED",
      shortMessage: `The model has ${outputs} output elements, at most ${MAX_OUTPUTS} fit a request.`,
      nextStep: "Give the model fewer outputs.",
    });
  }
  const keys = await makeKeys(options, circuit.bytes, settingsBytes);
  const { verifier, key } = await makeVerifier(options, keys, tensors);
  const files = new Map([
    ...(options.extra ?? []),
    ["model.onnx", options.onnx] as const,
    ["settings.json", settingsBytes] as const,
    ["verifier.json", json(verifier)] as const,
  ]);
  const manifest = manifestOf(options, settings, keys, key, tensors, files);
  checkFunction(manifest, outputs);
  saveModelFolder(options.directory, manifest, files);
  return manifest;
}

async function calibrate(options: AddOptions, circuit: CircuitOnnx): Promise<Uint8Array> {
  const { target = "resources", calibration, range } = options;
  const samples =
    calibration === undefined
      ? randomSamples(circuit.inputs, range ?? [-1, 1])
      : readSamples(calibration, circuit.inputs);
  const scales = candidateScales(samples, target, options.scales, range);
  return withScratch(options, async (scratch) => {
    const files = {
      onnx: join(scratch, "circuit.onnx"),
      settings: join(scratch, "settings.json"),
      data: join(scratch, "data.json"),
    };
    writeFileSync(files.onnx, circuit.bytes);
    writeFileSync(files.data, calibrationData(samples, circuit.inputs, Math.max(...scales)));
    const request = { ...files, target, scales, maxLogrows: options.maxLogrows ?? MAX_LOGROWS };
    await stage(options, "calibrate", runStage(workerOf(options), "settings", request));
    return new Uint8Array(readFileSync(files.settings));
  });
}

interface Tensors {
  readonly inputs: readonly FixedPointEntry[];
  readonly outputs: readonly FixedPointEntry[];
}

/** ezkl lists the shapes of inputs, then outputs; the last input is the binding. */
function tensorsOf(circuit: CircuitOnnx, settings: EzklSettings): Tensors {
  const shapes = settings.model_instance_shapes.slice(circuit.inputs.length + 1);
  const [inputScales, outputScales] = [settings.model_input_scales, settings.model_output_scales];
  if (shapes.length !== circuit.outputs.length || outputScales.length !== shapes.length) {
    throw new BaseError({
      code: "EZKL_SETTINGS_INVALID",
      shortMessage: `ezkl's settings have ${shapes.length} outputs, the model has ${circuit.outputs.length}.`,
      nextStep: "Calibrate again, without settings of another model.",
    });
  }
  return {
    inputs: withOffsets(
      circuit.inputs.map(({ name, dims }, i) => ({ name, dims, scaleBits: inputScales[i] ?? 0 })),
    ),
    outputs: withOffsets(
      circuit.outputs.map((name, i) => ({ name, dims: shapes[i] ?? [], scaleBits: outputScales[i] ?? 0 })),
    ),
  };
}

function withOffsets(entries: readonly Omit<FixedPointEntry, "offset">[]): FixedPointEntry[] {
  let next = 0;
  return entries.map((entry) => {
    const offset = next;
    next += elements(entry.dims);
    return { name: entry.name, dims: entry.dims, offset, scaleBits: entry.scaleBits };
  });
}

const elements = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);
const scaleOf = ({ dims, scaleBits }: FixedPointEntry) => ({ elements: elements(dims), scaleBits });

async function makeVerifier(
  options: AddOptions,
  keys: CircuitKeys,
  tensors: Tensors,
): Promise<{ verifier: VerifierFile; key: EzklKey }> {
  const solidity = await withScratch(options, async (scratch) => {
    const path = join(scratch, "verifier.sol");
    const request = { ...keys, solidity: path };
    await stage(options, "write the verifier", runStage(workerOf(options), "verifier", request));
    return readFileSync(path, "utf8");
  });
  const start = performance.now();
  const { compiler, initCode, code } = await options.compile(solidity);
  const seconds = (performance.now() - start) / 1000;
  options.onStage?.({ name: "compile the verifier", seconds, memoryBytes: 0 });
  assertPure(fromHex(code));
  const key = {
    codeHash: keccak256(code),
    inputs: tensors.inputs.map(scaleOf),
    outputs: tensors.outputs.map(scaleOf),
  };
  const soliditySha256 = sha256(new TextEncoder().encode(solidity));
  return { verifier: { compiler, soliditySha256, key: toHex(encodeKey(key)), initCode, code }, key };
}

function manifestOf(
  options: AddOptions,
  settings: EzklSettings,
  keys: CircuitKeys,
  key: EzklKey,
  tensors: Tensors,
  files: ReadonlyMap<string, Uint8Array>,
): ProofManifest {
  const [inputs, outputs] = [elementsOf(key.inputs), elementsOf(key.outputs)];
  const tool = options.tool ?? defaultTool(options.name, tensors, outputs);
  const [first] = tool.abi;
  const selector = first === undefined ? new Uint8Array(4) : selectorOf(first);
  const vkHash = keccak256(encodeKey(key), "bytes");
  const assay: ProofModelSection = {
    ...identityFields(proofModelIdentity(selector, inputs, outputs, vkHash), inputs),
    windowSeconds: tool.windowSeconds ?? DEFAULT_WINDOWS,
    files: Object.fromEntries(
      [...files]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, content]) => [name, { sha256: sha256(content), bytes: content.length }]),
    ),
    inputs: tensors.inputs,
    outputs: tensors.outputs,
    ...(tool.meaning === undefined ? {} : { meaning: tool.meaning }),
    ezkl: {
      version: settings.version,
      logrows: keys.logrows,
      srs: options.srs === undefined ? "development" : "ceremony",
      srsSha256: keys.srsSha256,
      vkSha256: keys.vkSha256,
    },
    ...evaluationOf(files.get("eval.json")),
  };
  const { import: _, lanes: __, windowSeconds: ___, meaning: ____, ...described } = tool;
  const manifest = { ...described, container_image: proofImageOf(files), assay };
  return checkedAny(manifest, "manifest.json") as ProofManifest;
}

function defaultTool(name: string, { inputs, outputs }: Tensors, words: number): ToolDescription {
  const bits = (entries: readonly FixedPointEntry[]): string =>
    entries.map((entry) => `${entry.name} × 2^${entry.scaleBits}`).join(", ");
  const description = `Output of the model ${name}, a float network computed in fixed point.`;
  return {
    name,
    description,
    version: "0.1.0",
    abi: [
      {
        type: "function",
        name: "infer",
        description,
        inputs: [
          {
            name: "int16s",
            type: "uint256[]",
            description: `${bits(inputs)}, 16 signed 16-bit numbers a word`,
          },
        ],
        outputs: [{ name: "values", type: `int256[${words}]`, description: bits(outputs) }],
      },
    ],
  };
}

function evaluationOf(content: Uint8Array | undefined): Pick<ProofModelSection, "evaluation"> {
  if (content === undefined) return {};
  const { test } = JSON.parse(new TextDecoder().decode(content)) as { test?: Record<string, unknown> };
  return test === undefined ? {} : { evaluation: test };
}

const json = (value: unknown): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, undefined, 2)}\n`);
