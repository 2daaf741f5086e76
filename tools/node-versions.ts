/** `npm run test:nodes`: the project on the other versions of Node.js that it supports, each with the npm that comes
 *  with it: a clean installation without a warning. On every change the newest of them, which verifies a model; with
 *  TEST_DEPTH=nightly each, with the demonstration and with shares of the unit tests that together are all. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./foundry.ts";
import { addCounts, type Counts, countVitest, formatCounts, NONE } from "./test.ts";
import { listFiles } from "./tracked-files.ts";

export interface Version {
  readonly node: string;
  readonly npm: string;
}

/** The oldest that is supported, and one of each other major version, with the npm that such a version brings. */
export const VERSIONS: readonly Version[] = [
  { node: "20.19.0", npm: "10.8.2" },
  { node: "22.23.3", npm: "10.9.3" },
  { node: "24.21.0", npm: "11.6.2" },
];

const PASSED: Counts = { ...NONE, passed: 1 };
const FAILED: Counts = { ...NONE, failed: 1 };

const majorOf = (version: string): number => Number.parseInt(version, 10);

/** Warnings of npm that this project causes; a user's own settings may be unknown to npm, too. */
export const warningsOf = (output: string): string[] =>
  output
    .split("\n")
    .filter((line) => /^npm warn/i.test(line) && !/unknown (user|env|global) config/i.test(line));

/** Where the tools of a version are put. */
const toolsOf = ({ node }: Version): string => join(projectRoot, "build", "nodes", node, "tools");

/** Puts Node.js and npm into a folder. @returns how to start them, or undefined if they cannot be had here */
export function fetchVersion(version: Version): Started | undefined {
  const { node, npm } = version;
  const folder = toolsOf(version);
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  const name = `${prefix}-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const binary = join(folder, "node_modules", name, "bin", "node");
  const npmFolder = join(folder, "node_modules", "npm", "bin");
  if (!existsSync(binary) || !existsSync(npmFolder)) {
    mkdirSync(folder, { recursive: true });
    const packages = [`${name}@${node}`, `npm@${npm}`];
    const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
    const { status } = spawnSync("npm", ["install", ...options, ...packages], {
      stdio: ["ignore", "ignore", 2],
    });
    if (status !== 0 || !existsSync(binary)) return undefined;
  }
  const path = [dirname(binary), join(folder, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  return { node: binary, npm: join(npmFolder, "npm-cli.js"), env: { ...process.env, PATH: path } };
}

export interface Started {
  /** path of the program */
  readonly node: string;
  /** path of npm's script */
  readonly npm: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A clean copy of the sources with the contracts that are compiled already. */
function copySources(tree: string): void {
  rmSync(tree, { recursive: true, force: true });
  spawnSync("git", ["clone", "--quiet", projectRoot, tree], { stdio: "inherit" });
  const compiled = ["out", "cache", "compiled-all.sha256", "compiled-contracts.sha256"];
  for (const file of [...listFiles(), ...compiled.map((name) => `build/${name}`)]) {
    if (existsSync(join(projectRoot, file)))
      cpSync(join(projectRoot, file), join(tree, file), { recursive: true, preserveTimestamps: true });
  }
}

/** @param share `i/n` of the unit tests; absent: none of them */
function tryVersion(version: Version, share?: string): Counts {
  const started = fetchVersion(version);
  if (started === undefined) {
    console.log(`Node.js ${version.node} cannot be had here: skipped.`);
    return { ...NONE, skipped: 1 };
  }
  const tree = join(projectRoot, "build", "nodes", version.node, "tree");
  copySources(tree);
  const { node, npm, env } = started;
  const run = (args: readonly string[]) => spawnSync(node, args, { cwd: tree, env, stdio: "inherit" }).status;

  const installed = spawnSync(node, [npm, "ci"], { cwd: tree, env, encoding: "utf8" });
  const warnings = warningsOf(`${installed.stdout}\n${installed.stderr}`);
  for (const line of warnings) console.log(line);
  if (installed.status !== 0) {
    console.log(installed.stderr);
    return FAILED;
  }
  let counts = warnings.length === 0 ? PASSED : FAILED;
  const played =
    share === undefined ? ["bin/assay.js", "model", "verify", "models/sentiment"] : [npm, "run", "demo"];
  counts = addCounts(counts, run(played) === 0 ? PASSED : FAILED);
  if (share === undefined) return counts;
  const report = join(tree, "build", "vitest.json");
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "unit", `--shard=${share}`];
  const status = run([...vitest, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`]);
  const tested = existsSync(report) ? countVitest(readFileSync(report, "utf8")) : NONE;
  return addCounts(counts, status !== 0 && tested.failed === 0 ? addCounts(tested, FAILED) : tested);
}

function main(): void {
  const others = VERSIONS.filter(({ node }) => majorOf(node) !== majorOf(process.versions.node));
  let counts = NONE;
  const isNightly = process.env.TEST_DEPTH === "nightly";
  for (const [i, version] of (isNightly ? others : others.slice(-1)).entries()) {
    console.log(`== Node.js ${version.node} with npm ${version.npm}`);
    const made = tryVersion(version, isNightly ? `${i + 1}/${others.length}` : undefined);
    console.log(`Node.js ${version.node}: ${formatCounts(made)}`);
    counts = addCounts(counts, made);
  }
  console.log(`\n${formatCounts(counts)}`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
