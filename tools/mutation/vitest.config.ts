import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Sources with their mutants, by path. */
const sources = JSON.parse(readFileSync(process.env.MUTATED_SOURCES as string, "utf8")) as Record<
  string,
  string
>;

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  cacheDir: "build/mutation/vite",
  plugins: [{ name: "mutants", enforce: "pre", load: (id) => sources[id.split("?")[0] as string] }],
  test: { include: ["test/**/*.test.ts"], testTimeout: 300_000, hookTimeout: 300_000 },
});
