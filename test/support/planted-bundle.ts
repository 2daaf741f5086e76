/** A copy of TypeScript sources with a fault in it, as one file. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { projectRoot } from "../../tools/foundry.ts";
import type { Mutant } from "../../tools/mutant.ts";
import { mutate } from "../../tools/mutants.ts";

/** @param entry source text, whose imports are from the project's root
 *  @param mutant undefined: no fault
 *  @param outfile in the project, so that packages are found from there
 *  @param isWhole true: packages are in it; false: they are those of whoever imports it
 *  @throws Error as `mutate`, and where a file with an edit is not among the sources */
export async function bundlePlanted(
  entry: string,
  mutant: Mutant | undefined,
  outfile: string,
  isWhole: boolean,
): Promise<void> {
  const edited = new Set<string>();
  const withEdits: Plugin = {
    name: "edits",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const file = relative(projectRoot, path);
        if (mutant?.edits.some((edit) => edit.file === file) !== true) return undefined;
        const edits = mutant.edits.filter((edit) => edit.file === file);
        const sources = mutate(new Map([[file, readFileSync(path, "utf8")]]), { ...mutant, edits });
        edited.add(file);
        return { contents: sources.get(file) as string, loader: "ts" };
      });
    },
  };
  await build({
    stdin: { contents: entry, resolveDir: projectRoot, loader: "ts" },
    absWorkingDir: projectRoot,
    ...(isWhole ? {} : { packages: "external" as const }),
    ...{ outfile, bundle: true, format: "esm", platform: "node", logLevel: "silent", plugins: [withEdits] },
  });
  const missing = mutant?.edits.find(({ file }) => !edited.has(file));
  if (missing !== undefined) throw new Error(`fault "${mutant?.name}": ${missing.file} is not in the bundle`);
}
