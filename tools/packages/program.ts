/** `assay`: the program as JavaScript, with the files that its sources find beside them at their places in this tree. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { DEPLOYED_CONTRACTS } from "../../protocol/chain/deploy/parts.ts";
import { bundleSettings, THREADS } from "../bundle.ts";
import { artifactPath, ensureCompiled } from "../compile.ts";
import { projectRoot } from "../foundry.ts";
import { licencesOf } from "../licences.ts";
import { listFiles } from "../tracked-files.ts";

const MAIN = "cli/main.ts";
/** What processes, threads and users of the program load by a path. */
const LOADED: readonly string[] = [
  ...THREADS,
  "agent/examples/http/json-selector.ts",
  "agent/examples/http/text-generation.ts",
  "agent/examples/http/data-processor.ts",
];
/** Where all JavaScript is: one folder deep, like its sources' folders' names below. */
const DIST = "dist";

/** Migrations, pages, examples, Python, models: what is in these folders and no code that is bundled. */
const ASSETS = /^(agent|base|challenger|cli|explorer|inference|models|protocol|prover)\//;
/** Without what derives models but is large: whoever derives one has its folder from the repository. */
const NOT_ASSETS =
  /\.(ts|mjs)$|^models\/.*\.py$|^models\/sentiment-transformer\/weights\.gguf$|^explorer\/app\//;
/** forge calls the compiler by these. */
const TOOLS: readonly string[] = ["tools/solc", "tools/solc.cjs", "LICENSE"];
/** What the explorer explains terms by. */
const GLOSSARY = "docs/GLOSSARY.md";
/** Pages of the explorer and the gateway, where `npm run build` made them. */
const PAGES: readonly string[] = ["build/explorer", "build/chat"];

/** Contracts that other commands than `assay deploy` create. */
const CREATED: readonly string[] = ["DailySeries", "EmbeddedExecutor", "ForecastFeed"];

/** @param folder of the package to be packed
 *  @throws Error with the compilers' messages */
export async function buildProgram(folder: string): Promise<void> {
  requireOwnVersions();
  const entries = Object.fromEntries(
    LOADED.map((path) => [path.replaceAll("/", "-").replace(".ts", ""), path]),
  );
  const { metafile } = await build({
    ...bundleSettings((path) => placeBeside(relative(projectRoot, path))),
    entryPoints: { main: MAIN, ...entries },
    outdir: join(folder, DIST),
  });
  for (const [name, path] of Object.entries(entries)) {
    const place = path.replace(".ts", ".mjs");
    const up = relative(dirname(place), ".");
    write(join(folder, place), `export * from "${up}/${DIST}/${name}.mjs";\n`);
  }
  for (const path of [
    ...listFiles().filter((path) => ASSETS.test(path) && !NOT_ASSETS.test(path)),
    ...TOOLS,
    GLOSSARY,
  ])
    cpSync(join(projectRoot, path), join(folder, path));
  for (const pages of PAGES.filter((path) => existsSync(join(projectRoot, path))))
    cpSync(join(projectRoot, pages), join(folder, pages), { recursive: true });
  ensureCompiled("contracts");
  for (const name of CREATED) copyArtifact(folder, name);
  for (const name of DEPLOYED_CONTRACTS) copySources(folder, copyArtifact(folder, name));
  write(join(folder, "THIRD-PARTY-LICENSES"), licencesOf(Object.keys(metafile.inputs)));
}

interface Compiled {
  readonly abi: unknown;
  readonly bytecode: { readonly object: string };
  readonly metadata: { readonly sources: Readonly<Record<string, unknown>> };
}

/** @returns what the program reads of a compiled contract */
function copyArtifact(folder: string, name: string): Compiled {
  const path = artifactPath(name);
  const { abi, bytecode, metadata } = JSON.parse(readFileSync(path, "utf8")) as Compiled;
  const kept = { abi, bytecode: { object: bytecode.object }, metadata };
  write(join(folder, relative(projectRoot, path)), JSON.stringify(kept));
  return kept;
}

/** `assay deploy` hands the sources to explorers. @throws Error for one of another package */
function copySources(folder: string, { metadata }: Compiled): void {
  for (const source of Object.keys(metadata.sources)) {
    if (source.startsWith("node_modules"))
      throw new Error(`A contract imports ${source}, which npm does not pack.`);
    cpSync(join(projectRoot, source), join(folder, source));
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The sources' places in the package, seen from dist/. */
function placeBeside(path: string) {
  const url = (to: string) => `new URL(${JSON.stringify(`../${to}`)}, import.meta.url)`;
  const folder = url(dirname(path));
  return {
    url: `${url(path)}.href`,
    dirname: `process.getBuiltinModule("node:url").fileURLToPath(${folder})`,
  };
}

/** What is installed beside the program is what it is tested with here.
 *  @throws Error naming the package */
function requireOwnVersions(): void {
  type Manifest = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  const read = (path: string) => JSON.parse(readFileSync(join(projectRoot, path), "utf8")) as Manifest;
  const kinds = ["dependencies", "optionalDependencies", "peerDependencies"] as const;
  const versionsIn = (manifest: Manifest) => Object.assign({}, ...kinds.map((kind) => manifest[kind] ?? {}));
  const own: Readonly<Record<string, string>> = versionsIn(read("package.json"));
  for (const [name, version] of Object.entries(versionsIn(read("packages/program/package.json"))))
    if (own[name] !== version)
      throw new Error(
        `packages/program/package.json has ${name} ${String(version)}, package.json ${own[name]}.`,
      );
}
