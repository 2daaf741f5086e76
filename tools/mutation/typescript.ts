/** Runs mutants of TypeScript: vitest loads the sources with all of them, and each process asks for one. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../foundry.ts";
import type { Outcome } from "./contracts.ts";
import { hashOf, instrument, type Mutant } from "./mutants.ts";

export interface TypeScriptTarget {
  readonly files: readonly string[];
  /** In the order in which they run: a later one sees what the earlier ones let through. */
  readonly specs: readonly string[];
}

const TIMEOUT_MS = 400_000;
const SOURCES = join(projectRoot, "build", "mutation", "typescript");

export class TypeScriptMutants {
  readonly mutants: readonly Mutant[];
  readonly #files: readonly string[];
  /** In the order in which they run. */
  readonly tests: readonly string[];
  /** holds the sources with their mutants */
  readonly #path: string;

  /** @param name names the target's scratch file */
  constructor(name: string, { files, specs }: TypeScriptTarget) {
    const mutants: Mutant[] = [];
    const texts: Record<string, string> = {};
    for (const file of files) {
      const found = instrument(file, readFileSync(join(projectRoot, file), "utf8"), mutants.length + 1);
      mutants.push(...found.mutants);
      texts[join(projectRoot, file)] = found.text;
    }
    mkdirSync(SOURCES, { recursive: true });
    this.#path = join(SOURCES, `${name}.json`);
    writeFileSync(this.#path, JSON.stringify(texts));
    this.mutants = mutants;
    this.#files = files;
    this.tests = specs;
    for (const spec of specs) {
      const { kind, output } = this.#run(0, spec);
      if (kind !== "survived") throw new Error(`${spec} fails without a mutant:\n${output}`);
    }
  }

  async run({ id }: Mutant): Promise<Outcome> {
    for (const file of this.tests) {
      const { kind } = this.#run(id, file);
      if (kind === "caught") return { kind, by: { file } };
      if (kind === "timeout") return { kind };
    }
    return { kind: "survived" };
  }

  async close(): Promise<void> {}

  fingerprint(specs: readonly string[]): string {
    return hashOf([...this.#files, ...specs].map((file) => readFileSync(join(projectRoot, file), "utf8")));
  }

  #run(id: number, spec: string): { kind: Outcome["kind"]; output: string } {
    const vitest = join(projectRoot, "node_modules/vitest/vitest.mjs");
    const config = join(projectRoot, "tools/mutation/vitest.config.ts");
    const { status, stdout, stderr, error } = spawnSync(
      process.execPath,
      [vitest, "run", "--config", config, "--bail", "1", spec],
      {
        cwd: projectRoot,
        encoding: "utf8",
        timeout: TIMEOUT_MS,
        killSignal: "SIGKILL",
        env: { ...process.env, NO_COLOR: "1", MUTANT: String(id), MUTATED_SOURCES: this.#path },
      },
    );
    const output = stdout + stderr;
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT")
      return { kind: "timeout", output };
    if (!/Test Files .*\d+ (passed|failed)/.test(stdout)) throw new Error(`vitest ran no tests:\n${output}`);
    return { kind: status === 0 ? "survived" : "caught", output };
  }
}
