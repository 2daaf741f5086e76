/** Runs mutants of TypeScript: vitest loads the sources with all of them, and each process asks for one. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../foundry.ts";
import type { Outcome } from "./contracts.ts";
import { instrument, type Mutant } from "./mutants.ts";

export interface TypeScriptTarget {
  readonly files: readonly string[];
  readonly specs: readonly string[];
}

const TIMEOUT_MS = 120_000;
const SOURCES = join(projectRoot, "build", "mutation", "typescript.json");

export class TypeScriptMutants {
  readonly mutants: readonly Mutant[];
  readonly #specs: readonly string[];

  constructor({ files, specs }: TypeScriptTarget) {
    const mutants: Mutant[] = [];
    const texts: Record<string, string> = {};
    for (const file of files) {
      const found = instrument(file, readFileSync(join(projectRoot, file), "utf8"), mutants.length + 1);
      mutants.push(...found.mutants);
      texts[join(projectRoot, file)] = found.text;
    }
    mkdirSync(join(SOURCES, ".."), { recursive: true });
    writeFileSync(SOURCES, JSON.stringify(texts));
    this.mutants = mutants;
    this.#specs = specs;
    if (this.#run(0) !== "survived") throw new Error(`${specs.join(", ")} fail without a mutant.`);
  }

  run({ id }: Mutant): Outcome {
    return this.#run(id);
  }

  #run(id: number): Outcome {
    const vitest = join(projectRoot, "node_modules/vitest/vitest.mjs");
    const config = join(projectRoot, "tools/mutation/vitest.config.ts");
    const args = [vitest, "run", "--config", config, "--bail", "1", ...this.#specs];
    const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
      cwd: projectRoot,
      encoding: "utf8",
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      env: { ...process.env, NO_COLOR: "1", MUTANT: String(id), MUTATED_SOURCES: SOURCES },
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ETIMEDOUT") return "timeout";
    if (!/Tests .*\d+ (passed|failed)/.test(stdout))
      throw new Error(`vitest ran no tests:\n${stdout}${stderr}`);
    return status === 0 ? "survived" : "caught";
  }
}
