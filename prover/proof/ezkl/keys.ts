/** The heavy files of a circuit: compiled circuit, SRS, proving and verification key. They are made from a model's ONNX
 *  file and settings, in a folder of their own, and kept there for the next time. */
import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { BaseError } from "../../../base/errors.ts";
import { sha256 } from "../../../inference/model-folder.ts";
import { circuitOnnx } from "./circuit-onnx.ts";
import type { ProofModel } from "./folder.ts";
import { pythonOf } from "./install.ts";
import { assertUniqueOutput } from "./operations.ts";
import { runStage, type WorkerOptions } from "./worker.ts";

export interface EzklOptions {
  /** holds venv/, srs/ and keys/; `assay proof ezkl install` makes it */
  readonly folder: string;
  /** SRS of a ceremony; default: the development SRS, with which anybody can forge proofs */
  readonly srs?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** after each stage */
  readonly onStage?: (stage: StageCost) => void;
}

export interface StageCost {
  readonly name: string;
  readonly seconds: number;
  /** greatest resident memory of its process */
  readonly memoryBytes: number;
}

export const workerOf = ({ folder, timeoutMs, signal }: EzklOptions): WorkerOptions => ({
  python: pythonOf(folder),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
  ...(signal === undefined ? {} : { signal }),
});

/** Paths of the files of one circuit, and what of them the model's manifest holds. */
export interface CircuitKeys {
  readonly directory: string;
  readonly circuit: string;
  readonly settings: string;
  readonly pk: string;
  readonly vk: string;
  readonly srs: string;
  readonly logrows: number;
  readonly srsSha256: string;
  readonly vkSha256: string;
}

const settingsSchema = z.object({
  run_args: z.object({
    logrows: z.int().min(1).max(26),
    input_visibility: z.literal("Public"),
    output_visibility: z.literal("Public"),
    param_visibility: z.literal("Fixed"),
    /** a scale to round to, which the list of operations (operations.ts) would not show */
    rebase_scale: z.null().optional(),
  }),
  model_instance_shapes: z.array(z.array(z.int().positive())),
  model_input_scales: z.array(z.int()),
  model_output_scales: z.array(z.int()),
  version: z.string(),
});
export type EzklSettings = z.infer<typeof settingsSchema>;

/** What of ezkl's settings is used here. Inputs and outputs are public, weights part of the key: anything else proves
 *  another statement.
 *  @throws BaseError EZKL_SETTINGS_INVALID */
export function parseSettings(bytes: Uint8Array): EzklSettings {
  try {
    return settingsSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new BaseError({
      code: "EZKL_SETTINGS_INVALID",
      shortMessage:
        "settings.json is not ezkl's for a circuit with public inputs and outputs, fixed weights and no rounding.",
      nextStep: "Add the model again with `assay proof ezkl add`.",
      cause,
    });
  }
}

/** Makes what is missing of a circuit's files. Interrupted work leaves nothing that looks whole.
 *  @param onnx with the binding input (circuit-onnx.ts)
 *  @throws BaseError as runStage and assertUniqueOutput do; EZKL_SRS_MISSING */
export async function makeKeys(
  options: EzklOptions,
  onnx: Uint8Array,
  settings: Uint8Array,
): Promise<CircuitKeys> {
  const { logrows } = parseSettings(settings).run_args;
  const worker = workerOf(options);
  const { srs, srsSha256 } = await findSrs(options, logrows, worker);
  const directory = keyFolder(options.folder, onnx, settings, srsSha256);
  const paths = keyPaths(directory);
  if (!existsSync(directory)) {
    const part = `${directory}.${process.pid}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    const files = keyPaths(part);
    try {
      writeFileSync(files.onnx, onnx);
      writeFileSync(files.settings, settings);
      const { table } = await stage(options, "list operations", runStage(worker, "operations", files));
      assertUniqueOutput(table);
      await stage(options, "compile the circuit", runStage(worker, "circuit", files));
      await stage(options, "set up keys", runStage(worker, "setup", { ...files, srs }));
      putInPlace(part, directory);
    } finally {
      rmSync(part, { recursive: true, force: true });
    }
  }
  return { ...paths, directory, srs, logrows, srsSha256, vkSha256: await sha256File(paths.vk) };
}

function keyFolder(folder: string, onnx: Uint8Array, settings: Uint8Array, srsSha256: string): string {
  // Folders of earlier versions hold circuits whose operations nobody looked at.
  const parts = ["unique outputs", sha256(onnx), sha256(settings), srsSha256];
  const name = sha256(new TextEncoder().encode(parts.join())).slice(0, 32);
  return join(folder, "keys", name);
}

/** Where a model's keys lie, once they are made. @param folder that `assay proof ezkl install` filled */
export const keyFolderOf = (folder: string, { onnx, settings, manifest }: ProofModel): string =>
  keyFolder(folder, circuitOnnx(onnx).bytes, settings, manifest.assay.ezkl.srsSha256);

export const developmentSrsPath = (folder: string, logrows: number): string =>
  join(folder, "srs", `development-${logrows}.srs`);

const keyPaths = (directory: string) => ({
  onnx: join(directory, "circuit.onnx"),
  settings: join(directory, "settings.json"),
  circuit: join(directory, "circuit.ezkl"),
  pk: join(directory, "proving.key"),
  vk: join(directory, "verification.key"),
});

/** Another process may have made the same files meanwhile: they are equal. */
function putInPlace(part: string, directory: string): void {
  try {
    renameSync(part, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error;
  }
}

async function findSrs(
  options: EzklOptions,
  logrows: number,
  worker: WorkerOptions,
): Promise<{ srs: string; srsSha256: string }> {
  const srs = options.srs ?? developmentSrsPath(options.folder, logrows);
  if (options.srs === undefined && !existsSync(srs)) {
    mkdirSync(dirname(srs), { recursive: true });
    await stage(options, `make a development SRS of 2^${logrows}`, runStage(worker, "srs", { srs, logrows }));
  }
  if (!existsSync(srs) || !statSync(srs).isFile()) {
    throw new BaseError({
      code: "EZKL_SRS_MISSING",
      shortMessage: `There is no SRS ${srs}.`,
      nextStep: "Name a file with --srs, or leave it out to use the development SRS.",
    });
  }
  return { srs, srsSha256: await sha256File(srs) };
}

/** Waits for a stage and reports what it cost. */
export async function stage<T extends Omit<StageCost, "name">>(
  { onStage }: EzklOptions,
  name: string,
  running: Promise<T>,
): Promise<T> {
  const answer = await running;
  onStage?.({ name, seconds: answer.seconds, memoryBytes: answer.memoryBytes });
  return answer;
}

async function sha256File(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
