/** `npm run build`: makes the explorer's pages in build/explorer, prints what a browser loads first, and fails where that
 *  is too much. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Manifest } from "vite";
import { projectRoot } from "./foundry.ts";

/** JavaScript of the first page, gzipped. */
const MOST_BYTES = 300 * 1024;

const FOLDER = join(projectRoot, "build", "explorer");

/** Where the pages are built. @throws Error with the bundler's messages */
export async function buildExplorer(): Promise<string> {
  await build({ configFile: join(projectRoot, "explorer/app/vite.config.ts"), logLevel: "warn" });
  return FOLDER;
}

/** Files that index.html loads before anything is asked for, by the build's manifest. */
export function firstLoad(manifest: Manifest): string[] {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || seen.has(chunk.file)) return;
    seen.add(chunk.file);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  visit("index.html");
  return [...seen];
}

/** Bytes of files of the build, gzipped. */
const gzipped = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + gzipSync(readFileSync(join(FOLDER, file))).length, 0);

async function main(): Promise<void> {
  await buildExplorer();
  const manifest = JSON.parse(readFileSync(join(FOLDER, ".vite/manifest.json"), "utf8")) as Manifest;
  const bytes = gzipped(firstLoad(manifest));
  const kilobytes = (bytes / 1024).toFixed(1);
  console.log(
    `build/explorer: ${kilobytes} KB of JavaScript at first load, gzipped, of at most ${MOST_BYTES / 1024}.`,
  );
  if (bytes <= MOST_BYTES) return;
  console.error("Load parts of it later: import() in a route or where they are needed.");
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
