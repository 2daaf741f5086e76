/** Makes pages: the explorer's in build/explorer, the gateway's chat page in build/chat. `npm run build` also prints what a
 *  browser loads first, and fails where that is too much; the demonstration makes them where a source has changed. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Manifest, type Plugin } from "vite";
import { projectRoot } from "./foundry.ts";

/** JavaScript of the first page, gzipped. */
export const MOST_BYTES = 300 * 1024;

/** Folder of each bundle's sources, with its document. */
const SOURCE = { explorer: "explorer/app", chat: "explorer/app/chat" } as const;
export type Bundle = keyof typeof SOURCE;

export const folderOf = (bundle: Bundle): string => join(projectRoot, "build", bundle);
/** What the pages were made of, beside them. */
const SOURCES = ".vite/sources.json";
/** Besides imported files: what they resolve to, and how they are bundled. */
const SETTINGS = [
  "package-lock.json",
  "tools/build-pages.ts",
  "tools/licences.ts",
  `${SOURCE.explorer}/vite.config.ts`,
];

/** A file below the project's root as it was. */
type Source = readonly [path: string, mtimeMs: number, bytes: number];

/** Makes the pages whatever there is.
 *  @returns where they are
 *  @throws Error with the bundler's messages */
export async function buildPages(bundle: Bundle, folder = folderOf(bundle)): Promise<string> {
  const app = SOURCE[bundle];
  const copied = join(app, "public");
  const own = new Set([
    ...SETTINGS,
    ...["index.html", "exported.html", "vite.config.ts"]
      .map((name) => `${app}/${name}`)
      .filter((path) => existsSync(join(projectRoot, path))),
    ...(existsSync(join(projectRoot, copied)) ? readdirSync(join(projectRoot, copied)) : []).map(
      (name) => `${copied}/${name}`,
    ),
  ]);
  const scratch = `${folder}.${process.pid}`;
  try {
    await build({
      configFile: join(projectRoot, app, "vite.config.ts"),
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
export function areFresh(bundle: Bundle, folder = folderOf(bundle)): boolean {
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

function sourceAt(path: string): Source {
  const { mtimeMs, size } = statSync(join(projectRoot, path));
  return [path, mtimeMs, size];
}

/** Files that index.html loads before anything is asked for, by the build's manifest. */
function firstLoad(manifest: Manifest): string[] {
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

/** Bytes of JavaScript that a browser loads first, gzipped. */
export function bytesAtFirst(folder: string): number {
  const manifest = JSON.parse(readFileSync(join(folder, ".vite/manifest.json"), "utf8")) as Manifest;
  return firstLoad(manifest).reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length,
    0,
  );
}

async function main(): Promise<void> {
  for (const bundle of Object.keys(SOURCE) as Bundle[]) {
    const bytes = bytesAtFirst(await buildPages(bundle));
    const kilobytes = (bytes / 1024).toFixed(1);
    console.log(
      `build/${bundle}: ${kilobytes} KB of JavaScript at first load, gzipped, of at most ${MOST_BYTES / 1024}.`,
    );
    if (bytes <= MOST_BYTES) continue;
    console.error("Load parts of it later: import() in a route or where they are needed.");
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
