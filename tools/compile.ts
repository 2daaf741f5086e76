/** Compiles the contracts once: forge's artifacts land in build/out, a stamp of the sources beside them. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqlite } from "../protocol/service/journal/sqlite.ts";
import { foundryBinary, projectRoot } from "./foundry.ts";

/** "contracts": what is deployed. "all": the contract tests as well. */
export type CompileScope = "contracts" | "all";

const SOURCES: Readonly<Record<CompileScope, readonly string[]>> = {
  contracts: ["verifier-contracts"],
  all: ["verifier-contracts", "test/contracts"],
};
const SETTINGS = ["foundry.toml", "tools/solc", "tools/solc.cjs", "node_modules/solc/package.json"];
const LOCK_TIMEOUT_MS = 600_000;

/** Folder of forge's artifacts: build/out/<File>.sol/<Contract>.json */
export const artifactsFolder = join(projectRoot, "build", "out");

/** Path of a contract's artifact; the file is named after the contract unless told otherwise. */
export function artifactPath(contract: string, file = `${contract}.sol`): string {
  return join(artifactsFolder, file, `${contract}.json`);
}

/** SHA-256 over the names and contents of all .sol files below the folders, and of the settings files.
 *  Independent of the order in which folders are listed; files that do not exist are left out. */
export function hashSources(
  root: string,
  folders: readonly string[],
  settings: readonly string[] = [],
): string {
  const files = folders.flatMap((folder) => solidityFiles(join(root, folder)));
  for (const name of settings) if (existsSync(join(root, name))) files.push(join(root, name));
  const hash = createHash("sha256");
  for (const file of files.sort()) {
    const contents = readFileSync(file);
    hash.update(`${relative(root, file).split(sep).join("/")}\0${contents.length}\0`).update(contents);
  }
  return hash.digest("hex");
}

function solidityFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return solidityFiles(path);
    return entry.name.endsWith(".sol") ? [path] : [];
  });
}

/** Runs `forge build` unless the artifacts are those of the present sources.
 *  Safe to call from several processes at once: one compiles, the others wait for it.
 *  @returns whether it compiled
 *  @throws Error with the compiler's messages when compilation fails */
export function ensureCompiled(scope: CompileScope = "contracts"): boolean {
  // The packed program has its contracts compiled.
  if (!existsSync(join(projectRoot, "foundry.toml"))) return false;
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  if (isFresh(scope)) return false;
  return withCompileLock(() => {
    if (isFresh(scope)) return false;
    // Hashed before compiling: a source that changes meanwhile leaves a stale stamp, never a wrong one.
    const compiled: CompileScope[] = scope === "all" ? ["contracts", "all"] : ["contracts"];
    const stamps = compiled.map((part) => [part, currentHash(part)] as const);
    forgeBuild(scope);
    for (const [part, hash] of stamps) writeStamp(part, hash);
    return true;
  });
}

/** Keeps forge from running beside itself. The lock dies with its process. */
export function withCompileLock<T>(action: () => T): T {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  const lock = openSqlite(join(projectRoot, "build", "compile-lock.sqlite"), { timeout: LOCK_TIMEOUT_MS });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return action();
  } finally {
    lock.close();
  }
}

function currentHash(scope: CompileScope): string {
  return hashSources(projectRoot, SOURCES[scope], SETTINGS);
}

function stampPath(scope: CompileScope): string {
  return join(projectRoot, "build", `compiled-${scope}.sha256`);
}

function writeStamp(scope: CompileScope, hash: string): void {
  writeFileSync(stampPath(scope), `${hash}\n`);
}

function isFresh(scope: CompileScope): boolean {
  const path = stampPath(scope);
  if (!existsSync(path) || readFileSync(path, "utf8").trim() !== currentHash(scope)) return false;
  // A stamp without artifacts is stale, unless there is nothing to compile.
  return existsSync(artifactsFolder) || solidityFiles(join(projectRoot, "verifier-contracts")).length === 0;
}

function forgeBuild(scope: CompileScope): void {
  const args = scope === "contracts" ? ["build", "--skip", "test/contracts/**"] : ["build"];
  const { status, error, stdout, stderr } = spawnSync(foundryBinary("forge"), args, {
    cwd: projectRoot,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`forge ${args.join(" ")} failed:\n${stdout}${stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const scope: CompileScope = process.argv.includes("--contracts") ? "contracts" : "all";
  console.log(ensureCompiled(scope) ? "Compiled." : "Nothing changed since the last compilation.");
}
