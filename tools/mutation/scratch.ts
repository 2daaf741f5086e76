/** A Foundry project in a scratch folder, and forge's runs in it. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { artifactPath } from "../compile.ts";
import { foundryBinary, projectRoot } from "../foundry.ts";

/** Without the optimizer, which takes most of the time; sizes and gas are not what is tested here. The order of literals
 *  stays on: without it some functions want more stack than there is. */
const CONFIG = `[profile.default]
src = "verifier-contracts"
test = "test/contracts"
out = "build/out"
cache_path = "build/cache"
libs = []
auto_detect_remappings = false
remappings = ["@openzeppelin/=node_modules/@openzeppelin/"]
allow_paths = ["node_modules"]
solc = "./solc"
offline = true
evm_version = "prague"
optimizer = true
bytecode_hash = "none"
cbor_metadata = false
code_size_limit = 1000000
gas_limit = "18446744073709551615"
fs_permissions = [{ access = "read", path = ${JSON.stringify(projectRoot)} }]
[profile.default.optimizer_details]
peephole = false
inliner = false
jumpdestRemover = false
orderLiterals = true
deduplicate = false
cse = false
constantOptimizer = false
yul = true
[profile.default.optimizer_details.yulDetails]
stackAllocation = true
optimizerSteps = ":"
[profile.default.fuzz]
seed = "0xa55a"
runs = 128
failure_persist_dir = "build/none"
[profile.default.invariant]
runs = 8
depth = 32
[profile.change]
[profile.nightly]
[lint]
lint_on_build = false
`;
const SOURCES = ["verifier-contracts", "test/contracts"];
const LINKS = ["node_modules/@openzeppelin", "models", "tools", "test/vectors", "build/vectors"];

/** forge asks for the version at each start: a process of the real compiler takes longer than most tests. */
function compilerScript(): string {
  const asked = spawnSync(process.execPath, [join(projectRoot, "tools", "solc.cjs"), "--version"]);
  return `#!/bin/sh
if [ "$1" = --version ]; then echo '${String(asked.stdout).trim()}'; else exec tools/solc "$@"; fi
`;
}

export interface ForgeRun {
  readonly output: string;
  readonly isTimeout: boolean;
}

interface ForgeOptions {
  readonly timeout?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class Scratch {
  readonly #folder: string;

  /** @param folder kept between runs so that forge need not compile again */
  constructor(folder: string) {
    this.#folder = folder;
    // Links of an older layout, and sources that are no more.
    for (const stale of ["node_modules", ...SOURCES])
      rmSync(join(folder, stale), { recursive: true, force: true });
    this.write("foundry.toml", CONFIG);
    this.write("solc", compilerScript());
    chmodSync(join(folder, "solc"), 0o755);
    for (const link of LINKS) {
      const path = join(folder, link);
      mkdirSync(dirname(path), { recursive: true });
      // The link itself: what it points to may not be there yet.
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
        symlinkSync(join(projectRoot, link), path);
    }
  }

  write(file: string, text: string): void {
    const path = join(this.#folder, file);
    if (existsSync(path) && readFileSync(path, "utf8") === text) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Lines and mutants that did not compile. @param version hash of the sources */
  leftOut(version: string): readonly string[] {
    const path = join(this.#folder, "left-out.json");
    if (!existsSync(path)) return [];
    const kept = JSON.parse(readFileSync(path, "utf8")) as { version: string; leftOut: string[] };
    return kept.version === version ? kept.leftOut : [];
  }

  keepLeftOut(version: string, leftOut: ReadonlySet<string>): void {
    this.write("left-out.json", JSON.stringify({ version, leftOut: [...leftOut] }));
  }

  build(): string {
    return this.#forge(["build"]).output;
  }

  /** Files of compiled contracts, the project's own where the target's tests do not deploy them. */
  artifactPaths<Name extends string>(names: readonly Name[]): Record<Name, string> {
    const pathOf = (name: Name): string => {
      const path = join(this.#folder, "build", "out", `${name}.sol`, `${name}.json`);
      return existsSync(path) ? path : artifactPath(name);
    };
    return Object.fromEntries(names.map((name) => [name, pathOf(name)])) as Record<Name, string>;
  }

  /** @param timeout in milliseconds; 0: no limit @throws Error when no test ran */
  test(args: readonly string[], timeout: number, env: Readonly<Record<string, string>> = {}): ForgeRun {
    // Without a PATH it cannot ask git for submodules either, which takes as long again.
    const found = this.#forge(["test", ...args], { timeout, env: { ...env, PATH: "" } });
    if (!found.isTimeout && !/\d+ tests? passed/.test(found.output))
      throw new Error(`forge ran no tests:\n${found.output.slice(-2000)}`);
    return found;
  }

  #forge(args: readonly string[], { timeout = 0, env = {} }: ForgeOptions = {}): ForgeRun {
    const { stdout, stderr, error } = spawnSync(foundryBinary("forge"), args, {
      cwd: this.#folder,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      timeout,
      killSignal: "SIGKILL",
      env: { ...process.env, ...env, FOUNDRY_PROFILE: "default", NO_COLOR: "1" },
    });
    const isTimeout = (error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT";
    if (error !== undefined && !isTimeout) throw error;
    return { output: stdout + stderr, isTimeout };
  }
}
