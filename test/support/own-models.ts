/** Models that a test brings to a system's chain, by the commands that a user has. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { runInProcess } from "./assay.ts";
import { keyOf, ROLES, type System } from "./system.ts";

/** Where the daemons of a system find a model of this name. */
export const ownFolder = (system: System, name: string): string => join(system.folder, "models", name);

/** `assay model register` */
export async function registerModel(system: System, folder: string): Promise<LoadedModel> {
  await ownModel(system, ["register", folder]);
  return loadModelFolder(folder);
}

/** `assay model import`, `verify` and `register`. @param flags of import */
export async function importModel(
  system: System,
  name: string,
  onnx: Uint8Array,
  flags: readonly string[],
): Promise<LoadedModel> {
  const [source, folder] = [join(system.folder, `${name}-source`), ownFolder(system, name)];
  mkdirSync(source);
  const file = join(source, `${name}.onnx`);
  writeFileSync(file, onnx);
  await ownModel(system, ["import", file, ...flags, "--out", folder]);
  await ownModel(system, ["verify", folder]);
  return registerModel(system, folder);
}

/** `assay model …` with the key of the requester. */
export async function ownModel(system: System, args: readonly string[]): Promise<void> {
  const env = {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, "manual"),
    ASSAY_KEY: keyOf(ROLES.requester),
    ASSAY_POLL_INTERVAL_MS: "50",
  };
  const { code, stderr } = await runInProcess(["model", ...args], env);
  expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
}
