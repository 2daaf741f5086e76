/** `assay explorer export`: the pages as files that any host serves. Nothing is built here. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { BaseError } from "../base/errors.ts";
import { rpcUrlsOf } from "../protocol/chain/quorum/urls.ts";
import { ownPolicy, PAGES_FOLDER } from "./http/pages.ts";
import type { Library } from "./library.ts";
import type { ShelvedModel } from "./shelf.ts";
import { MODELS_FILE, renderSite, SITE_FILE, type SiteFile, type SiteModel } from "./site/site-file.ts";

export interface ExportOptions {
  /** folder that is made, or replaced where it is an earlier export */
  readonly out: string;
  readonly site: SiteFile;
  readonly library: Library;
  /** those whose files are published with the pages */
  readonly models: readonly ShelvedModel[];
  /** the built pages; absent: where `npm run build` puts them */
  readonly pagesFolder?: string;
}

export interface Exported {
  readonly files: number;
  readonly bytes: number;
}

const DOCUMENT = "index.html";
/** The document as it was built, and what only a server needs. */
const BUILT = "exported.html";
const NOT_COPIED = new Set([DOCUMENT, BUILT, ".vite"]);

/** @throws BaseError PAGES_MISSING, SITE_FOLDER_TAKEN, MODEL_FOLDER_INVALID, MODEL_MISMATCH */
export function exportSite({
  out,
  site,
  library,
  models,
  pagesFolder = PAGES_FOLDER,
}: ExportOptions): Exported {
  const document = documentOf(pagesFolder, site);
  makeRoom(out);
  for (const name of readdirSync(pagesFolder))
    if (!NOT_COPIED.has(name)) cpSync(join(pagesFolder, name), join(out, name), { recursive: true });
  const listed = models.map((model): SiteModel => {
    const files = library.files(model.id);
    for (const { name } of files) {
      const { directory } = library.file(model.id, name);
      const place = join(out, "models", model.id, name);
      mkdirSync(dirname(place), { recursive: true });
      cpSync(join(directory, name), place);
    }
    return { folder: model.folder, manifest: model.manifest, files };
  });
  writeFileSync(join(out, MODELS_FILE), `${JSON.stringify(listed)}\n`);
  writeFileSync(join(out, DOCUMENT), document);
  // Last: a folder with this file is a whole site.
  writeFileSync(join(out, SITE_FILE), renderSite(site));
  return sizeOf(out);
}

/** @throws BaseError PAGES_MISSING */
function documentOf(pagesFolder: string, { rpcUrl }: SiteFile): string {
  const path = join(pagesFolder, BUILT);
  if (!existsSync(path)) {
    throw new BaseError({
      code: "PAGES_MISSING",
      shortMessage: `There are no built pages in ${pagesFolder}.`,
      nextStep: "Run `npm run build` in the repository; the npm package brings them along.",
    });
  }
  const nodes = [...new Set(rpcUrlsOf(rpcUrl).map((url) => new URL(url).origin))];
  const policy = `<meta http-equiv="Content-Security-Policy" content="${ownPolicy(nodes)}">`;
  const charset = '<meta charset="utf-8">';
  return readFileSync(path, "utf8").replace(charset, `${charset}\n    ${policy}`);
}

/** Empties what an earlier export wrote. @throws BaseError SITE_FOLDER_TAKEN for a folder with anything else */
function makeRoom(out: string): void {
  mkdirSync(out, { recursive: true });
  const isSite = existsSync(join(out, SITE_FILE)) && existsSync(join(out, MODELS_FILE));
  if (!isSite && readdirSync(out).length > 0) {
    throw new BaseError({
      code: "SITE_FOLDER_TAKEN",
      shortMessage: `The folder ${out} is not empty, and is no earlier export.`,
      nextStep: "Name a new folder, or empty this one.",
    });
  }
  for (const name of [SITE_FILE, DOCUMENT, MODELS_FILE, "assets", "models"])
    rmSync(join(out, name), { recursive: true, force: true });
}

function sizeOf(folder: string): Exported {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const files = paths.map((path) => statSync(path)).filter((found) => found.isFile());
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}
