/** Bundles the program with its packages into build/program, since Node.js takes seconds to load some two thousand
 *  files, and a fraction of one to load a few. bin/bundled.js makes a new bundle whenever a source has changed. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { projectRoot } from "./foundry.ts";

/** What bin/bundled.js reads, at build/program/current.json. Paths are relative to the project's root. */
interface Current {
  readonly entry: string;
  readonly sources: readonly (readonly [path: string, mtimeMs: number, bytes: number])[];
}

/** Packages that load files of their own at run time: native code, WebAssembly, workers. */
const EXTERNAL = [
  "@foundry-rs/*",
  "better-sqlite3",
  "better-sqlite3-13",
  "esbuild",
  "ffjavascript",
  "node-llama-cpp",
  "onnxruntime-node",
  "pino",
  "pino-pretty",
  "snarkjs",
  "solc",
  "tiny-secp256k1",
  "tsx",
];
/** What threads and child processes of the program begin with. */
export const THREADS: readonly string[] = [
  "inference/runtime/worker.ts",
  "inference/runtime/canonical-thread.ts",
  "inference/runtime/hash-thread.ts",
  "inference/runtime/second-thread.ts",
  "prover/promises/signing/signing-thread.ts",
  "prover/proof/groth16/snark/worker.ts",
  "cli/explorer-thread.ts",
];
/** The program, what tests start it by in their own process, and the prover that lies. */
const ENTRIES = [
  ...["cli/main.ts", "cli/program.ts", "cli/output.ts", "cli/demo/dishonest/main.ts"],
  ...THREADS,
];
/** Bundles kept: a daemon that runs for long may still load parts of an older one. */
const KEPT = 8;
/** Besides imported files: what they resolve to. */
const SETTINGS = ["package-lock.json", "tools/bundle.ts"];

/** Expressions of JavaScript for where a source is. */
interface Place {
  readonly url: string;
  readonly dirname: string;
}

/** Sources find the files beside them by import.meta, so in a bundle it still tells where the source is. */
const sourcePlaces = (placeOf: (path: string) => Place): Plugin => ({
  name: "source-places",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes("node_modules")) return undefined;
      const { url, dirname } = placeOf(path);
      const contents = readFileSync(path, "utf8")
        .replaceAll("import.meta.url", url)
        .replaceAll("import.meta.dirname", dirname);
      return { contents, loader: "ts" };
    });
  },
});

/** How the program is bundled, wherever to. @param placeOf where a source says that it is */
export const bundleSettings = (placeOf: (path: string) => Place) =>
  ({
    absWorkingDir: projectRoot,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: [...EXTERNAL],
    // Names of classes are shown in messages, and two packages may use the same one.
    keepNames: true,
    metafile: true,
    logLevel: "silent",
    plugins: [sourcePlaces(placeOf)],
    // Packages in CommonJS that are bundled still require what Node.js has.
    banner: {
      js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
    },
  }) satisfies BuildOptions;

/** @returns path of the bundle's entry
 *  @throws Error when a source cannot be read or compiled, or build/ cannot be written */
export async function bundleProgram(): Promise<string> {
  const folder = join(projectRoot, "build", "program");
  mkdirSync(folder, { recursive: true });
  const scratch = join(folder, `.${process.pid}`);
  const { metafile } = await build({
    ...bundleSettings((path) => ({
      url: JSON.stringify(pathToFileURL(path).href),
      dirname: JSON.stringify(dirname(path)),
    })),
    entryPoints: ENTRIES,
    outdir: scratch,
    outbase: projectRoot,
    sourcemap: "linked",
    sourcesContent: false,
  });
  const own = Object.keys(metafile.inputs).filter((path) => !path.includes("node_modules"));
  const sources = [...own, ...SETTINGS].sort().map((path) => {
    const { mtimeMs, size } = statSync(join(projectRoot, path));
    return [path, mtimeMs, size] as const;
  });
  const name = createHash("sha256").update(JSON.stringify(sources)).digest("hex").slice(0, 16);
  const entry = join(relative(projectRoot, folder), name, "cli/main.mjs");
  place(scratch, join(folder, name));
  const current: Current = { entry, sources };
  // The temporary name is a process's own, and the new name appears whole: several may do this at once.
  writeFileSync(`${scratch}.json`, JSON.stringify(current));
  renameSync(`${scratch}.json`, join(folder, "current.json"));
  removeOld(folder, name);
  return join(projectRoot, entry);
}

/** Gives a finished folder its name, unless another process was faster with the same. */
function place(scratch: string, folder: string): void {
  try {
    renameSync(scratch, folder);
  } catch {
    rmSync(scratch, { recursive: true });
  }
}

function removeOld(folder: string, newest: string): void {
  const bundles = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== newest)
    .map(({ name }) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { path } of bundles.slice(KEPT - 1)) rmSync(path, { recursive: true, force: true });
}
