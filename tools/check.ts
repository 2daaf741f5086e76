/** `npm run check`: everything that needs no test run. Runs all of it, as many parts at once as there are cores, then names
 *  what failed. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { foundryBinary, projectRoot } from "./foundry.ts";

const node = process.execPath;
const modules = join(projectRoot, "node_modules");
const tsx = [join(modules, "tsx/dist/cli.mjs")];
const vitest = [join(modules, "vitest/vitest.mjs"), "run", "--project", "unit"];
const hasContracts = existsSync(join(projectRoot, "verifier-contracts"));

type Check = readonly [name: string, command: string, args: readonly string[]];

/** What only reads sources, the longest first; and what later parts wait for. */
const OF_SOURCES: readonly Check[] = [
  ["database driver", node, [...tsx, "tools/make-sqlite.ts"]],
  ["types", node, [join(modules, "typescript7/bin/tsc")]],
  ["types of the pages", node, [join(modules, "typescript7/bin/tsc"), "-p", "explorer/app"]],
  ["imports", node, [...tsx, "tools/check-deps.ts"]],
  ["names", node, [...tsx, "tools/check-names.ts"]],
  ["documents", node, [...tsx, "tools/check-docs.ts"]],
  ["format and lint", node, [join(modules, "@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."]],
  ["contract format", foundryBinary("forge"), ["fmt", "--check"]],
  ["glossary", node, [...tsx, "tools/check-glossary.ts"]],
  ["packed words", node, [...tsx, "tools/check-words.ts"]],
  ["generated opcodes", node, [...tsx, "tools/gen-opcodes.ts", "--check"]],
  ["places of planted faults", node, [...vitest, "test/tools/planted-places.test.ts"]],
];

/** The compiler uses all cores by itself. */
const COMPILE: Check = ["compile", node, [...tsx, "tools/compile.ts"]];

/** What reads compiled contracts. */
const OF_CONTRACTS: readonly Check[] = [
  ...(hasContracts
    ? ([
        ["contract sizes", foundryBinary("forge"), ["build", "--sizes", "--skip", "test/contracts/**"]],
      ] as const)
    : []),
  ["generated files", node, [...tsx, "tools/gen-abis.ts", "--check"]],
  ["operators", node, [...tsx, "tools/gen-operators.ts", "--check"]],
  ["specifications", node, [...tsx, "tools/gen-specs.ts", "--check"]],
];

const failed: string[] = [];

/** Runs one check and shows what it printed once it has ended. */
async function run([name, command, args]: Check): Promise<void> {
  const began = performance.now();
  const child = spawn(command, args, { cwd: projectRoot, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const status = await new Promise<number | null>((resolve) => {
    child.on("close", resolve).on("error", (error) => {
      output += error.message;
      resolve(null);
    });
  });
  console.log(`== ${name}, ${((performance.now() - began) / 1_000).toFixed(0)} s\n${output}`.trimEnd());
  if (status !== 0) failed.push(name);
}

async function runAll(checks: readonly Check[]): Promise<void> {
  const waiting = checks.values();
  const lanes = Array.from({ length: availableParallelism() }, async () => {
    for (const check of waiting) await run(check);
  });
  await Promise.all(lanes);
}

await runAll(OF_SOURCES);
await run(COMPILE);
await runAll(OF_CONTRACTS);
console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
