import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { areasNamed, runConformance } from "../../conformance/run.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { Mutant } from "../../tools/mutant.ts";
import { mutate } from "../../tools/mutants.ts";
import { CONFORMANCE_FAULTS } from "../support/conformance-faults.ts";

/** As many as `assay conformance run` compares where it is not told otherwise. */
const ELEMENTS = 1_000_000;
const ENTRY = `import { serve } from "./conformance/serve/serve.ts"; await serve(process.stdin, process.stdout);`;

let folder: string;
beforeAll(() => {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  folder = mkdtempSync(join(projectRoot, "build", "planted-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `assay conformance serve`, with a fault in it. @returns the command that starts it */
async function withFault(mutant: Mutant | undefined, name: string): Promise<readonly string[]> {
  const withEdits: Plugin = {
    name: "edits",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const file = relative(projectRoot, path);
        if (mutant?.edits.some((edit) => edit.file === file) !== true) return undefined;
        const sources = mutate(new Map([[file, readFileSync(path, "utf8")]]), mutant);
        return { contents: sources.get(file) as string, loader: "ts" };
      });
    },
  };
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: { contents: ENTRY, resolveDir: projectRoot, loader: "ts" },
    absWorkingDir: projectRoot,
    ...{ outfile, bundle: true, format: "esm", platform: "node", logLevel: "silent", plugins: [withEdits] },
  });
  return [process.execPath, outfile];
}

describe("assay conformance run", () => {
  test("default: nothing differs without a fault", async () => {
    const command = await withFault(undefined, "right");
    const asked = { seed: 7_000_000, elements: 20_000, timeoutMs: 60_000, areas: areasNamed([]) };
    const results = await runConformance(command, asked);
    expect(results.filter(({ differences, fault, missing }) => differences > 0 || fault || missing)).toEqual(
      [],
    );
  });

  test.each(CONFORMANCE_FAULTS.map((mutant, i) => ({ name: mutant.name, mutant, i })))(
    "behavior: finds $name",
    async ({ mutant, i }) => {
      const command = await withFault(mutant, `fault-${i}`);
      const areas = areasNamed([mutant.caughtBy]);
      const asked = { seed: 1_000_000, elements: ELEMENTS, timeoutMs: 60_000, areas };
      const [result] = await runConformance(command, { ...asked, untilFirst: true });
      expect(result?.first?.what).toBeDefined();
      expect(result?.fault).toBeUndefined();
    },
  );
});
