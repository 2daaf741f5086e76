/** Makes the explorer's pages in build/explorer. `npm run build` also prints what a browser loads first, and fails where
 *  that is too much; the demonstration makes them where a source has changed. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Manifest, type Plugin } from "vite";
import { projectRoot } from "./foundry.ts";

/** JavaScript of the first page, gzipped. */
const MOST_BYTES = 300 * 1024;

const APP = "explorer/app";
const FOLDER = join(projectRoot, "build", "explorer");
/** What the pages were made of, beside them. */
const SOURCES = ".vite/sources.json";
/** Besides imported files: what they resolve to, and how they are bundled. */
const SETTINGS = [
  "package-lock.json",
  "tools/build-explorer.ts",
  `${APP}/index.html`,
  `${APP}/vite.config.ts`,
];

/** A file below the project's root as it was. */
type Source = readonly [path: string, mtimeMs: number, bytes: number];

/** Makes the pages whatever there is.
 *  @returns where they are
 *  @throws Error with the bundler's messages */
export async function buildExplorer(folder = FOLDER): Promise<string> {
  const own = new Set([...SETTINGS, ...readdirSync(join(projectRoot, APP, "public")).map(publicPath)]);
  const scratch = `${folder}.${process.pid}`;
  try {
    await build({
      configFile: join(projectRoot, APP, "vite.config.ts"),
      logLevel: "warn",
      plugins: [noteSources(own)],
      worker: { plugins: () => [noteSources(own)] },
      build: { outDir: scratch },
    });
    writeFileSync(join(scratch, SOURCES), JSON.stringify([...own].sort().map(sourceAt)));
    // They appear whole: a bundler that fails or is stopped leaves what was there.
    rmSync(folder, { recursive: true, force: true });
    renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** Whether the pages in a folder are made of the sources as they are now. */
export function areFresh(folder = FOLDER): boolean {
  if (!existsSync(join(folder, SOURCES))) return false;
  const sources = JSON.parse(readFileSync(join(folder, SOURCES), "utf8")) as Source[];
  return sources.every(([path, mtimeMs, bytes]) => {
    const now = statSync(join(projectRoot, path), { throwIfNoEntry: false });
    return now !== undefined && now.mtimeMs === mtimeMs && now.size === bytes;
  });
}

/** Puts the project's own files that are bundled into `own`, as paths from its root. */
const noteSources = (own: Set<string>): Plugin => ({
  name: "note-sources",
  moduleParsed({ id }) {
    const path = relative(projectRoot, id.split("?")[0] ?? "");
    if (!path.startsWith("..") && !path.includes("node_modules") && existsSync(join(projectRoot, path)))
      own.add(path);
  },
});

const publicPath = (name: string): string => `${APP}/public/${name}`;

function sourceAt(path: string): Source {
  const { mtimeMs, size } = statSync(join(projectRoot, path));
  return [path, mtimeMs, size];
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
