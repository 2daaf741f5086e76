/** The virtual environment with ezkl: made once in a folder, from the lock file beside this one. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BaseError } from "../../../base/errors.ts";
import { runStage } from "./worker.ts";

const REQUIREMENTS = join(import.meta.dirname, "requirements.txt");
const MIN_PYTHON = [3, 9] as const;

export interface InstallOptions {
  /** holds venv/ and, later, keys */
  readonly folder: string;
  /** interpreter that makes the environment; default python3 */
  readonly python?: string;
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface Installed {
  readonly python: string;
  /** of ezkl */
  readonly version: string;
  /** false if it was there already */
  readonly isNew: boolean;
}

/** Interpreter of the environment in a folder, whether or not it is there. */
export const pythonOf = (folder: string): string =>
  process.platform === "win32"
    ? join(folder, "venv", "Scripts", "python.exe")
    : join(folder, "venv", "bin", "python");

/** Makes the environment, unless it is there with exactly these packages. Another process sees all of it or nothing.
 *  @throws BaseError PYTHON_MISSING, PYTHON_TOO_OLD, EZKL_INSTALL_FAILED (retryable), EZKL_MISSING, EZKL_FAILED */
export async function installEzkl(options: InstallOptions): Promise<Installed> {
  const { folder, onProgress = () => undefined } = options;
  const lock = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex");
  const stamp = join(folder, "venv", "assay-lock.sha256");
  const python = pythonOf(folder);
  if (existsSync(python) && existsSync(stamp) && readFileSync(stamp, "utf8") === lock) {
    const { version } = await runStage({ python }, "version", {});
    return { python, version, isNew: false };
  }
  const base = options.python ?? "python3";
  await requirePython(base, options);
  mkdirSync(folder, { recursive: true });
  const venv = join(folder, "venv");
  // The stamp, written last, is what says that the environment is whole.
  rmSync(venv, { recursive: true, force: true });
  onProgress(`make a virtual environment in ${venv}`);
  await run(base, ["-m", "venv", venv], options);
  onProgress("install the packages of prover/proof/ezkl/requirements.txt");
  const flags = ["--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input"];
  await run(python, ["-m", "pip", "install", ...flags, "-r", REQUIREMENTS], options);
  const { version } = await runStage({ python }, "version", {});
  writeFileSync(`${stamp}.part`, lock);
  renameSync(`${stamp}.part`, stamp);
  return { python, version, isNew: true };
}

async function requirePython(python: string, options: InstallOptions): Promise<void> {
  const text = await run(
    python,
    ["-c", "import sys; print(sys.version_info[0], sys.version_info[1])"],
    options,
  );
  const [major = 0, minor = 0] = text.trim().split(" ").map(Number);
  if (major > MIN_PYTHON[0] || (major === MIN_PYTHON[0] && minor >= MIN_PYTHON[1])) return;
  throw new BaseError({
    code: "PYTHON_TOO_OLD",
    shortMessage: `${python} is version ${major}.${minor}; ezkl needs at least ${MIN_PYTHON.join(".")}.`,
    nextStep: "Name a newer interpreter with --python.",
  });
}

/** @returns standard output */
function run(
  command: string,
  args: readonly string[],
  { onProgress, signal }: InstallOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...(signal ? { signal } : {}) });
    let [text, log] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      for (const line of part.split("\n")) if (line.trim() !== "") onProgress?.(`  ${line.trim()}`);
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      log = (log + part).slice(-2_000);
    });
    child.on("error", (cause) => reject(pythonMissing(command, cause)));
    child.on("close", (code) => {
      if (code === 0) resolve(text);
      else reject(installFailed([command, ...args].slice(0, 4).join(" "), code, log));
    });
  });
}

const pythonMissing = (python: string, cause: unknown): BaseError =>
  new BaseError({
    code: "PYTHON_MISSING",
    shortMessage: `${python} cannot be started, and ezkl runs in Python ${MIN_PYTHON.join(".")} or later.`,
    nextStep: "Install Python with its venv module, or name an interpreter with --python.",
    cause,
  });

const installFailed = (command: string, code: number | null, log: string): BaseError =>
  new BaseError({
    code: "EZKL_INSTALL_FAILED",
    shortMessage: `${command} ended with ${code}: ${log.trim().split("\n").at(-1) ?? ""}`,
    nextStep: "Check that the Python package index can be reached, then install again.",
    retryable: true,
    cause: log,
  });
