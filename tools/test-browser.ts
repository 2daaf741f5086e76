/** `npm run test:browser`: the suite that needs Chromium, ending with one line that sums up. Where there is none, the
 *  suite is skipped, and says so. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./foundry.ts";
import { type Counts, countVitest, formatCounts } from "./test.ts";

const report = join(projectRoot, "build", "vitest-browser.json");
const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";

function run(): Counts {
  if (!existsSync(chromium)) {
    console.log(`There is no Chromium at ${chromium} (CHROMIUM): the browser suite is skipped`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  rmSync(report, { force: true });
  const vitest = join(projectRoot, "node_modules/vitest/vitest.mjs");
  const flags = ["--config", "vitest.browser.config.ts", "--reporter=default", "--reporter=json"];
  const { status } = spawnSync(process.execPath, [vitest, "run", ...flags, `--outputFile.json=${report}`], {
    cwd: projectRoot,
    stdio: "inherit",
  });
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const counts = countVitest(readFileSync(report, "utf8"));
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

const counts = run();
console.log(`\n${formatCounts(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;
