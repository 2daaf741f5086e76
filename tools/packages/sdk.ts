/** `@assay/sdk`: agent/sdk as JavaScript, and as declarations without a name of a source file in them. */
import { join } from "node:path";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { projectRoot } from "../foundry.ts";

/** What packages/sdk/package.json exports, by the name of its files. */
const ENTRIES = {
  index: "agent/sdk/index.ts",
  ai: "agent/sdk/adapters/ai.ts",
  langchain: "agent/sdk/adapters/langchain.ts",
  openai: "agent/sdk/adapters/openai.ts",
  text: "agent/sdk/text.ts",
  x402: "agent/sdk/adapters/x402.ts",
} as const;

/** Shared by the entries. */
const CHUNKS = "shared/[name]-[hash]";

/** @param folder of the package to be packed
 *  @throws Error with the compilers' messages */
export async function buildSdk(folder: string): Promise<void> {
  await build({
    absWorkingDir: projectRoot,
    entryPoints: ENTRIES,
    outdir: folder,
    chunkNames: CHUNKS,
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "es2022",
    logLevel: "warning",
  });
  const bundle = await rollup({
    input: Object.fromEntries(
      Object.entries(ENTRIES).map(([name, source]) => [name, join(projectRoot, source)]),
    ),
    external: (id) => !id.startsWith(".") && !id.startsWith("/"),
    plugins: [dts({ tsconfig: join(projectRoot, "tsconfig.json") })],
    onwarn: (warning) => {
      throw new Error(warning.message);
    },
  });
  await bundle.write({ dir: folder, format: "es", chunkFileNames: `${CHUNKS}.d.ts` });
  await bundle.close();
}
