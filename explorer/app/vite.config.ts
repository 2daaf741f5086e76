import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const root = import.meta.dirname;

/** Everything is served from one folder by the explorer, under a policy that lets no script stand in the page. */
export default defineConfig({
  root,
  plugins: [react()],
  worker: { format: "es" },
  build: {
    outDir: join(root, "../../build/explorer"),
    emptyOutDir: true,
    target: "es2022",
    // Nothing is put into the page: its policy has no data: but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
  },
});
