import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { licencesOf } from "../../tools/licences.ts";

const root = import.meta.dirname;
/** The document of exported sites, which lie in any folder of a host; the others are served from its root. */
const EXPORTED = "exported.html";

/** Puts the licences of what pages and workers bundle beside them. Workers are bundled before the pages are. */
function licences(): { readonly ofPages: Plugin; readonly ofWorker: Plugin } {
  const modules = new Set<string>();
  const collect: Plugin["generateBundle"] = (_, bundle) => {
    for (const one of Object.values(bundle))
      if (one.type === "chunk") for (const id of one.moduleIds) modules.add(id);
  };
  return {
    ofWorker: { name: "licences-of-worker", generateBundle: collect },
    ofPages: {
      name: "licences",
      generateBundle(...given) {
        collect.apply(this, given);
        this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES.txt", source: licencesOf(modules) });
      },
    },
  };
}

/** What nearly every page needs, with what it imports itself: one file in the place of many small ones, which a browser asks
 *  for six at a time. */
const SHARED =
  /explorer\/app\/((parts|data|shell)\/(?!site-source)|(start|lazy-worker|verify\/client)\.tsx?$)/;

/** Everything is served from one place, under a policy that lets no script stand in the page. */
export const pagesConfig = (
  folder: string,
  outDir: string,
  documents: readonly string[] = ["index.html"],
  { ofPages, ofWorker } = licences(),
) =>
  defineConfig({
    root: folder,
    plugins: [react(), ofPages],
    worker: {
      format: "es",
      plugins: () => [ofWorker],
      rollupOptions: {
        output: {
          // SQLite's loader looks for its code by this name, beside itself.
          assetFileNames: ({ names }) =>
            names.includes("sqlite3.wasm") ? "assets/[name][extname]" : "assets/[name]-[hash][extname]",
        },
      },
    },
    experimental: {
      renderBuiltUrl: (file, { hostId, hostType }) =>
        hostType === "html" ? `${hostId === EXPORTED ? "./" : "/"}${file}` : { relative: true },
    },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      // Nothing is put into the page: its policy has no data: but for images.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: true,
      reportCompressedSize: false,
      rolldownOptions: {
        input: documents.map((name) => join(folder, name)),
        output: { codeSplitting: { groups: [{ name: "shared", test: SHARED }] } },
      },
    },
  });

export default pagesConfig(root, join(root, "../../build/explorer"), ["index.html", EXPORTED]);
