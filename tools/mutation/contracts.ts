/** Runs mutants of contracts: all of them are compiled once, in a copy of the sources, each behind a guard that asks
 *  for the block's coinbase, which forge takes from its command line. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { foundryBinary, projectRoot } from "../foundry.ts";
import { collectSources } from "../mutants.ts";
import { instrument, type Mutant, mutantAt, withoutPure } from "./mutants.ts";

export interface ContractTarget {
  readonly files: readonly string[];
  /** Test files; a mutant is caught when one of their tests fails that passes without it. */
  readonly tests: readonly string[];
  /** One of them that takes long: it sees only what the others let through. */
  readonly last?: string;
}

export type Outcome = "caught" | "survived" | "timeout";

/** Without the optimizer, which takes most of the time; sizes and gas are not what is tested here. */
const CONFIG = `[profile.default]
src = "verifier-contracts"
test = "test/contracts"
out = "build/out"
cache_path = "build/cache"
libs = []
auto_detect_remappings = false
remappings = ["@openzeppelin/=node_modules/@openzeppelin/"]
allow_paths = ["node_modules"]
solc = "tools/solc"
offline = true
evm_version = "prague"
optimizer = false
bytecode_hash = "none"
cbor_metadata = false
code_size_limit = 1000000
gas_limit = "18446744073709551615"
fs_permissions = [{ access = "read", path = ${JSON.stringify(projectRoot)} }]
[profile.default.fuzz]
seed = "0xa55a"
runs = 128
failure_persist_dir = "build/none"
[profile.default.invariant]
runs = 8
depth = 32
[profile.change]
[profile.nightly]
`;
const TIMEOUT_MS = 180_000;

interface ForgeRun {
  readonly output: string;
  readonly isTimeout: boolean;
}

export class ContractMutants {
  readonly mutants: readonly Mutant[];
  /** Lines whose mutants the compiler could not bear, `file:line`. */
  readonly leftOut: ReadonlySet<string>;
  readonly #folder: string;
  readonly #last: string | undefined;
  /** Tests that fail without a mutant: they are about gas or sizes. */
  #baseline: readonly string[] = [];

  /** @param folder scratch, kept between runs so that forge need not compile again */
  constructor(folder: string, { files, tests, last }: ContractTarget) {
    this.#folder = folder;
    this.#last = last;
    const sources = new Map<string, string>();
    for (const test of tests)
      collectSources(test, (file) => readFileSync(join(projectRoot, file), "utf8"), sources);
    const leftOut = new Set<string>();
    this.leftOut = leftOut;
    this.#prepare();
    for (;;) {
      const mutants: Mutant[] = [];
      const texts = new Map<string, string>();
      for (const [file, source] of sources) {
        let text = source;
        if (files.includes(file)) {
          const found = instrument(
            file,
            source,
            mutants.length + 1,
            (line, name) => leftOut.has(`${file}:${line}`) || leftOut.has(`${file}:${line} ${name}`),
          );
          mutants.push(...found.mutants);
          text = found.text;
        }
        texts.set(file, withoutPure(text));
      }
      for (const [file, text] of texts) this.#write(file, text);
      const { output } = this.#forge(["build"]);
      this.mutants = mutants;
      const wrong = [
        ...output.matchAll(/^Error[^\n]*\n(?:(?!\s*-->)[^\n]+\n){0,3}\s*--> ([^:\s]+):(\d+):(\d+):/gm),
      ];
      if (/Compiler run successful|No files changed/.test(output)) break;
      const before = leftOut.size;
      for (const [message, file = "", line = "", column = ""] of wrong) {
        const text = (texts.get(file) ?? "").split("\n")[Number(line) - 1] ?? "";
        const id = /[Ss]tack too deep/.test(message) ? undefined : mutantAt(text, Number(column));
        const mutant = mutants.find((one) => one.id === id);
        if (mutant !== undefined) leftOut.add(`${file}:${mutant.line} ${mutant.name}`);
        else
          for (const at of functionAround(texts.get(file) ?? "", Number(line))) leftOut.add(`${file}:${at}`);
      }
      if (leftOut.size === before) throw new Error(`The sources do not compile:\n${output.slice(-4000)}`);
      console.log(`${leftOut.size} mutants or lines are left out: they do not compile`);
    }
    this.#baseline = failures(this.#test(0).output);
    console.log(`without a mutant fail: ${this.#baseline.join(", ") || "none"}`);
  }

  run({ id }: Mutant): Outcome {
    const last = this.#last;
    const rounds =
      last === undefined
        ? [[]]
        : [
            ["--no-match-path", last],
            ["--match-path", last],
          ];
    for (const chosen of rounds) {
      const { output, isTimeout } = this.#test(id, ["--fail-fast", ...chosen]);
      if (isTimeout) return "timeout";
      if (failures(output).some((name) => !this.#baseline.includes(name))) return "caught";
    }
    return "survived";
  }

  #prepare(): void {
    for (const stale of ["verifier-contracts", "test/contracts"])
      rmSync(join(this.#folder, stale), { recursive: true, force: true });
    this.#write("foundry.toml", CONFIG);
    for (const link of ["node_modules", "models", "tools", "test/vectors", "build/vectors"]) {
      const path = join(this.#folder, link);
      mkdirSync(dirname(path), { recursive: true });
      if (!existsSync(path)) symlinkSync(join(projectRoot, link), path);
    }
  }

  #write(file: string, text: string): void {
    const path = join(this.#folder, file);
    if (existsSync(path) && readFileSync(path, "utf8") === text) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  #test(id: number, chosen: readonly string[] = []): ForgeRun {
    const without =
      this.#baseline.length === 0 ? [] : ["--no-match-test", `^(${this.#baseline.join("|")})\\b`];
    const coinbase = `0x${id.toString(16).padStart(40, "0")}`;
    const found = this.#forge(["test", "--block-coinbase", coinbase, ...chosen, ...without]);
    if (!found.isTimeout && !/\d+ tests? passed/.test(found.output))
      throw new Error(`forge ran no tests:\n${found.output.slice(-2000)}`);
    return found;
  }

  #forge(args: readonly string[]): ForgeRun {
    const { stdout, stderr, error } = spawnSync(foundryBinary("forge"), [...args], {
      cwd: this.#folder,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      timeout: args[0] === "test" ? TIMEOUT_MS : 0,
      killSignal: "SIGKILL",
      env: { ...process.env, FOUNDRY_PROFILE: "default", NO_COLOR: "1" },
    });
    const isTimeout = (error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT";
    if (error !== undefined && !isTimeout) throw error;
    return { output: stdout + stderr, isTimeout };
  }
}

const failures = (output: string): string[] => [
  ...new Set([...output.matchAll(/^\[FAIL.*?\] (\w+)\(/gm)].map(([, name]) => name as string)),
];

/** Lines of the function that holds a line. */
function functionAround(text: string, line: number): number[] {
  const lines = text.split("\n");
  const isStart = (at: number): boolean => /^\s*(function|modifier|constructor)\b/.test(lines[at - 1] ?? "");
  let first = line;
  while (first > 1 && !isStart(first)) first--;
  let last = line + 1;
  while (last <= lines.length && !isStart(last)) last++;
  return Array.from({ length: last - first }, (_, i) => first + i);
}
