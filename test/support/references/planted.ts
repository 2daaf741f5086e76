/** The references with a faulty importer: the sources with an edit, bundled by themselves. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { projectRoot } from "../../../tools/foundry.ts";
import type { Mutant } from "../../../tools/mutant.ts";
import { mutate } from "../../../tools/mutants.ts";
import type { findFault } from "./references.ts";

/** Files of a fault as they are, and with it.
 *  @throws Error when the text that the fault changes is not there exactly once */
function faultyFiles(fault: Mutant): Map<string, string> {
  const files = new Set(fault.edits.map(({ file }) => file));
  return mutate(
    new Map([...files].map((file) => [file, readFileSync(join(projectRoot, file), "utf8")])),
    fault,
  );
}

const inPlaceOf = (files: ReadonlyMap<string, string>): Plugin => ({
  name: "faults",
  setup(bundle) {
    bundle.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const contents = files.get(path.slice(projectRoot.length + 1).replaceAll("\\", "/"));
      return contents === undefined ? undefined : { contents, loader: "ts" };
    });
  },
});

/** What `findFault` says of the importer with the fault. @param fault undefined: of the importer as it is */
export async function withFault(fault: Mutant | undefined): Promise<typeof findFault> {
  // Below the project's root, so that packages are found from there.
  const folder = mkdtempSync(join(projectRoot, "build", "operator-fault-"));
  try {
    const outfile = join(folder, "references.cjs");
    await build({
      entryPoints: [join(projectRoot, "test/support/references/references.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "cjs",
      packages: "external",
      logLevel: "silent",
      plugins: [inPlaceOf(fault === undefined ? new Map() : faultyFiles(fault))],
    });
    return (createRequire(import.meta.url)(outfile) as { findFault: typeof findFault }).findFault;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
