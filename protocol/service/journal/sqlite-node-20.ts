/** The binary of better-sqlite3 12, which Node.js 20 alone needs. Installation runs no package's script (.npmrc), and
 *  every other package brings its binaries along; this one downloads or compiles its own, here, when it is first used. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const PACKAGE = "better-sqlite3";
const POLL_MS = 200;
/** Longer than any compilation: who left a lock that old is dead. */
const STALE_MS = 15 * 60_000;

/** Returns when the binary is there or cannot be had; loading the package then says why. */
export function ensureBinary(): void {
  const folder = dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  const binary = join(folder, "build", "Release", "better_sqlite3.node");
  const lock = join(folder, ".making");
  while (!existsSync(binary) || existsSync(lock)) {
    if (!take(lock)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
      continue;
    }
    try {
      if (!existsSync(binary)) make(folder);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
    return;
  }
}

function make(folder: string): void {
  process.stderr.write(
    `Node.js ${process.versions.node}: getting the binary of ${PACKAGE}, once. This may take a minute.\n`,
  );
  spawnSync("npm", ["rebuild", PACKAGE, "--ignore-scripts=false"], {
    cwd: dirname(dirname(folder)),
    // What is printed on standard output belongs to the program.
    stdio: ["ignore", 2, 2],
  });
}

/** @returns false while another process holds it */
function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > STALE_MS) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}
