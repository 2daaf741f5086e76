/** `npm test`: compiles once, runs vitest and forge, and ends with one line that sums them up.
 *  `tsx tools/test.ts contracts [forge test arguments]` runs only the contract tests, `tsx tools/test.ts records` only the
 *  record fuzzer, which compares RECORD_ELEMENTS elements of each opcode and prints what they were, `tsx tools/test.ts
 *  fuzz` all that fuzzes: the contracts' fuzz tests ten times as often, records and whole programs from another seed
 *  (FUZZ_SEED, a number) than `npm test`'s, both with their counts. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureCompiled } from "./compile.ts";
import { foundryBinary, projectRoot } from "./foundry.ts";

export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

export const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };

export function addCounts(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** `3 passed, 0 failed`, and the skipped ones when there are any. */
export function formatCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** Counts of a vitest JSON report. A file that could not be loaded has no tests and counts as one failure. */
export function countVitest(report: string): Counts {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    report,
  ) as {
    numPassedTests: number;
    numFailedTests: number;
    numPendingTests: number;
    numTodoTests: number;
    testResults: readonly { status: string; assertionResults: readonly { status: string }[] }[];
  };
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((result) => result.status === "failed"),
  ).length;
  return {
    passed: numPassedTests,
    failed: numFailedTests + brokenFiles,
    skipped: numPendingTests + numTodoTests,
  };
}

/** Counts of `forge test`, from its last summary line; undefined when there is none. */
export function countForge(output: string): Counts | undefined {
  const summary = [...output.matchAll(/: (\d+) tests? passed, (\d+) failed, (\d+) skipped \(\d+ total/g)].at(
    -1,
  );
  if (summary === undefined) return undefined;
  return { passed: Number(summary[1]), failed: Number(summary[2]), skipped: Number(summary[3]) };
}

/** Runs vitest and counts its tests.
 *  @param report name of the JSON report in build/
 *  @param args further arguments of `vitest run` */
export function runVitest(report: string, args: readonly string[] = []): Counts {
  const path = join(projectRoot, "build", `${report}.json`);
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  rmSync(path, { force: true });
  const vitest = join(projectRoot, "node_modules/vitest/vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${path}`];
  const { status } = spawnSync(process.execPath, [vitest, "run", ...reporters, ...args], {
    cwd: projectRoot,
    stdio: "inherit",
  });
  const counts = existsSync(path) ? countVitest(readFileSync(path, "utf8")) : NONE;
  return withExitCode(counts, status);
}

/** Streams forge's report. Its JSON reporter is not used: it writes the traces of every test. */
async function runForge(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Counts> {
  const child = spawn(foundryBinary("forge"), ["test", ...args], {
    cwd: projectRoot,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env, NO_COLOR: "1" },
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    process.stdout.write(chunk);
    output += chunk;
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  return withExitCode(countForge(output) ?? NONE, status);
}

const RECORDS = "test/contracts/fuzz/*";

/** Of each opcode: in `npm test`, and where records are all that is run. */
const [FEW_ELEMENTS, MANY_ELEMENTS] = [250_000, 1_000_000];

/** A run of its own: it needs gas without a limit, and prints. */
function runRecords(elements: number): Promise<Counts> {
  return runForge(["--match-path", RECORDS, "-vv", "--gas-limit", String(10 ** 15)], {
    RECORD_ELEMENTS: process.env.RECORD_ELEMENTS ?? String(elements),
  });
}

const PROGRAMS = "test/protocol/chain/execution/programs.test.ts";

/** What `npm run test:fuzz` runs once all is compiled. */
async function runFuzz(): Promise<Counts> {
  const seed = process.env.FUZZ_SEED ?? "1";
  process.env.FUZZ_SEED = seed;
  console.log(`FUZZ_SEED=${seed}`);
  const programs = runVitest("vitest-fuzz", [PROGRAMS]);
  const records = await runRecords(MANY_ELEMENTS);
  const tests = ["--no-match-path", RECORDS, "--match-test", "^testFuzz_"];
  const contracts = await runForge(tests, { FOUNDRY_PROFILE: "change" });
  return [programs, records, contracts].reduce(addCounts);
}

/** Writes the large vector set that the contract tests read beside the committed one.
 *  @returns false if that failed */
function makeVectors(): boolean {
  const script = join(projectRoot, "test/support/make-vectors.ts");
  const args = ["--elements", "2000", "--seed", "7", "--out", "build/vectors"];
  const { status } = spawnSync(process.execPath, ["--import", "tsx", script, ...args], {
    cwd: projectRoot,
    stdio: "inherit",
  });
  return status === 0;
}

/** A runner that failed without naming a failed test counts as one failure. */
function withExitCode(counts: Counts, status: number | null): Counts {
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

function compile(): boolean {
  try {
    ensureCompiled("all");
    return true;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return false;
  }
}

async function main(args: readonly string[]): Promise<void> {
  const [only, ...forgeArgs] = args;
  const compiled = compile();
  let counts: Counts = { ...NONE, failed: compiled ? 0 : 1 };
  if (only === "fuzz") {
    if (compiled) counts = addCounts(counts, await runFuzz());
    return finish(counts);
  }
  if (only === undefined) counts = addCounts(counts, runVitest("vitest"));
  if (compiled && only !== "records") {
    if (!makeVectors()) counts = addCounts(counts, { ...NONE, failed: 1 });
    counts = addCounts(counts, await runForge(["--no-match-path", RECORDS, ...forgeArgs]));
  }
  if (compiled && forgeArgs.length === 0)
    counts = addCounts(counts, await runRecords(only === "records" ? MANY_ELEMENTS : FEW_ELEMENTS));
  finish(counts);
}

function finish(counts: Counts): void {
  console.log(`\n${formatCounts(counts)}`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
