/** `npm run check`: everything that needs no test run. Runs all of it, then names what failed. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { foundryBinary, projectRoot } from "./foundry.ts";

const node = process.execPath;
const modules = join(projectRoot, "node_modules");
const tsx = [join(modules, "tsx/dist/cli.mjs")];
const hasContracts = existsSync(join(projectRoot, "verifier-contracts"));

const CHECKS: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ["format and lint", node, [join(modules, "@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."]],
  ["contract format", foundryBinary("forge"), ["fmt", "--check"]],
  ["types", node, [join(modules, "typescript/bin/tsc")]],
  ["types of the pages", node, [join(modules, "typescript/bin/tsc"), "-p", "explorer/app"]],
  ["imports", node, [...tsx, "tools/check-deps.ts"]],
  ["names", node, [...tsx, "tools/check-names.ts"]],
  ["glossary", node, [...tsx, "tools/check-glossary.ts"]],
  ["packed words", node, [...tsx, "tools/check-words.ts"]],
  ["documents", node, [...tsx, "tools/check-docs.ts"]],
  ["generated opcodes", node, [...tsx, "tools/gen-opcodes.ts", "--check"]],
  ["compile", node, [...tsx, "tools/compile.ts"]],
  ["generated files", node, [...tsx, "tools/gen-abis.ts", "--check"]],
  ["operators", node, [...tsx, "tools/gen-operators.ts", "--check"]],
  ["specifications", node, [...tsx, "tools/gen-specs.ts", "--check"]],
  ...(hasContracts
    ? ([
        ["contract sizes", foundryBinary("forge"), ["build", "--sizes", "--skip", "test/contracts/**"]],
      ] as const)
    : []),
];

const failed: string[] = [];
for (const [name, command, args] of CHECKS) {
  console.log(`== ${name}`);
  const { status, error } = spawnSync(command, args, { cwd: projectRoot, stdio: "inherit" });
  if (error !== undefined) console.error(error.message);
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
