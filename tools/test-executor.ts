/** `npm run test:executor`: installs the local language model into build/, runs the suite that needs it, and ends with
 *  one line that sums up. Where it cannot be installed the suite is skipped, and says so. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./foundry.ts";
import { type Counts, countVitest, formatCounts } from "./test.ts";

const data = join(projectRoot, "build", "executor-data");
const report = join(projectRoot, "build", "vitest-executor.json");
/** Why the suite cannot run here, as opposed to a fault of this project. */
const UNAVAILABLE = ["LLAMA_UNSUPPORTED", "LLAMA_INSTALL_FAILED"];

const node = (args: readonly string[], capture: boolean) =>
  spawnSync(process.execPath, [...args], {
    cwd: projectRoot,
    encoding: "utf8",
    stdio: capture ? ["ignore", "pipe", "pipe"] : "inherit",
  });

function install(): Counts | undefined {
  const args = ["bin/assay.js", "agent", "llama", "install", "--data", data, "--json"];
  const { status, stderr } = node(args, true);
  if (status === 0) return undefined;
  console.log(stderr.trim());
  const code = /"code": "([A-Z_]+)"/.exec(stderr)?.[1] ?? "";
  if (!UNAVAILABLE.includes(code)) return { passed: 0, failed: 1, skipped: 0 };
  console.log("the local model cannot be installed here: the suite is skipped");
  return { passed: 0, failed: 0, skipped: 1 };
}

function run(): Counts {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  rmSync(report, { force: true });
  const vitest = join(projectRoot, "node_modules/vitest/vitest.mjs");
  const flags = ["--config", "vitest.executor.config.ts", "--reporter=default", "--reporter=json"];
  const { status } = node([vitest, "run", ...flags, `--outputFile.json=${report}`], false);
  const counts = countVitest(readFileSync(report, "utf8"));
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

const counts = install() ?? run();
console.log(`\n${formatCounts(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;
