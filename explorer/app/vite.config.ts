import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const root = import.meta.dirname;

/** Everything is served from one folder, under a policy that lets no script stand in the page. */
export const pagesConfig = (folder: string, outDir: string) =>
  defineConfig({
    root: folder,
    plugins: [react()],
    worker: { format: "es" },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      // Nothing is put into the page: its policy has no data: but for images.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: true,
      reportCompressedSize: false,
    },
  });

export default pagesConfig(root, join(root, "../../build/explorer"));
