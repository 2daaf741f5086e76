/** Projects outside of this repository, as somebody has them who installs its packed files. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../tools/foundry.ts";
import { fetchVersion, type Started, VERSIONS } from "../../tools/node-versions.ts";
import { temporaryFolder } from "./deploy.ts";

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** absent: the newest */
  readonly by?: Started;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Node {
  /** Node.js 24.21.0 */
  readonly name: string;
  readonly major: number;
  readonly by: Started;
}

/** The versions of Node.js that are supported, as far as they can be had here, the newest one last. */
export const NODES: readonly Node[] = VERSIONS.flatMap((version) => {
  const by = fetchVersion(version);
  const { node } = version;
  return by === undefined ? [] : [{ name: `Node.js ${node}`, major: Number.parseInt(node, 10), by }];
});
const newest = NODES.at(-1)?.by as Started;

/** Bytes of all files below a folder; hard links and links to elsewhere count as they are listed. */
export function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

export class FreshProject {
  readonly #temporary = temporaryFolder();
  readonly folder = realpathSync(this.#temporary.path);

  /** @param source folder below test/packages/projects or templates that is copied; absent: an empty folder */
  constructor(source?: string) {
    if (source !== undefined) cpSync(join(projectRoot, source), this.folder, { recursive: true });
  }

  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  /** Runs `npm install` with these packages, or packed files. @throws Error with npm's words */
  install(packages: readonly string[], { by = newest }: RunOptions = {}): void {
    const args = [by.npm, "install", "--no-audit", "--no-fund", "--no-package-lock", ...packages];
    const ended = spawnSync(by.node, args, { cwd: this.folder, env: environment(by), encoding: "utf8" });
    if (ended.status !== 0) throw new Error(`npm install ${packages.join(" ")} failed:\n${ended.stderr}`);
  }

  /** Runs Node.js in the folder. */
  node(args: readonly string[], { by = newest, env = {} }: RunOptions = {}): Promise<Ended> {
    return this.run(by.node, args, { ...environment(by), ...env });
  }

  /** Runs a program in the folder, with nothing in its environment that a user of these packages does not have. */
  run(
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = environment(newest),
  ): Promise<Ended> {
    const child = spawn(program, args, { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (part: string) => {
        texts[name] += part;
      });
    return new Promise((resolve, reject) => {
      child.once("error", reject).once("close", (status) => resolve({ status, ...texts }));
    });
  }

  remove(): void {
    this.#temporary.remove();
  }
}

/** Without what npm and vitest set for the scripts of this repository, such as that packages run none. */
function environment({ env }: Started): NodeJS.ProcessEnv {
  const isOurs = (name: string) =>
    /^(npm_|VITEST|ASSAY_|TEST|NODE_(ENV|PATH|OPTIONS)|INIT_CWD)/.test(name) &&
    !/^npm_config_(registry|cache|.*proxy)$/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name)));
}
