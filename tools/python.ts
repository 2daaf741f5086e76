/** The Python package: an environment with what builds and checks it, its wheel, and environments that have nothing but
 *  that wheel. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "./foundry.ts";

export const PACKAGE = join(projectRoot, "python");
const BUILD = join(projectRoot, "build", "python");
const TOOLS = join(BUILD, "tools");
const DIST = join(BUILD, "dist");
const REQUIREMENTS = join(PACKAGE, "requirements.txt");
const LEAST_MINOR = 10;

const pythonOf = (environment: string): string => join(environment, "bin", "python");
/** Python with mypy and what builds the wheel. */
export const TOOLS_PYTHON = pythonOf(TOOLS);

/** Runs a program. @throws Error with what it printed, if it fails */
export function runPython(python: string, args: readonly string[], options: { cwd?: string } = {}): string {
  return execFileSync(python, args, { cwd: PACKAGE, ...options, encoding: "utf8", stdio: "pipe" });
}

/** Makes the tools ready, once.
 *  @returns why Python or its packages cannot be had here; undefined when all is ready */
export function preparePython(): string | undefined {
  const { status, stdout } = spawnSync("python3", ["--version"], { encoding: "utf8" });
  const minor = Number(/^Python 3\.(\d+)/.exec(stdout ?? "")?.[1] ?? -1);
  if (status !== 0 || minor < LEAST_MINOR) {
    return `There is no Python 3.${LEAST_MINOR} or later as python3${status === 0 ? `, but ${stdout.trim()}` : ""}.`;
  }
  if (!existsSync(TOOLS_PYTHON)) {
    const made = spawnSync("python3", ["-m", "venv", TOOLS], { encoding: "utf8" });
    if (made.status !== 0) {
      rmSync(TOOLS, { recursive: true, force: true });
      return `Python cannot make environments here (python3-venv): ${made.stdout.trim()}`;
    }
  }
  const installed = spawnSync(TOOLS_PYTHON, ["-m", "pip", "install", "-q", "-r", REQUIREMENTS], {
    encoding: "utf8",
  });
  if (installed.status === 0) return undefined;
  return `The packages of python/requirements.txt cannot be installed here: ${installed.stderr.trim()}`;
}

/** Builds the wheel. @returns its path */
function buildWheel(): string {
  rmSync(DIST, { recursive: true, force: true });
  const args = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", DIST, PACKAGE];
  runPython(TOOLS_PYTHON, ["-m", "pip", ...args]);
  return join(DIST, readdirSync(DIST)[0] ?? "");
}

/** Minor versions of Python 3 that the package is for. */
const MINORS = [LEAST_MINOR, 11, 12, 13, 14] as const;

/** Which of them this machine has as `python3.N`, and which not. */
export function pythonsHere(): { readonly here: readonly string[]; readonly missing: readonly string[] } {
  const names = MINORS.map((minor) => `python3.${minor}`);
  const here = names.filter((name) => spawnSync(name, ["--version"]).status === 0);
  return { here, missing: names.filter((name) => !here.includes(name)) };
}

export interface FreshPython {
  readonly python: string;
  remove(): void;
}

/** A new environment outside of the tree with the wheel, what it needs, and these packages, in pinned versions.
 *  @param by program that makes it; default: the tools' own Python */
export function freshPython(packages: readonly string[] = [], by = TOOLS_PYTHON): FreshPython {
  const folder = mkdtempSync(join(tmpdir(), "assay-python-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    runPython(by, ["-m", "venv", folder]);
    const python = pythonOf(folder);
    runPython(python, ["-m", "pip", "install", "-q", "-c", REQUIREMENTS, buildWheel(), ...packages]);
    return { python, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
