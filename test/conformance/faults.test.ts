import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { areasNamed, runConformance } from "../../conformance/run.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { Mutant } from "../../tools/mutant.ts";
import { CONFORMANCE_FAULTS } from "../support/conformance-faults.ts";
import { bundlePlanted } from "../support/planted-bundle.ts";
import { sampled } from "../support/scale.ts";

/** Five times as many as `assay conformance run` compares where it is not told otherwise: the rarest of the faults, the
 *  sign of a zero, shows in less than one of a million. */
const ELEMENTS = 5_000_000;
const ENTRY = `import { serve } from "./conformance/serve/serve.ts"; await serve(process.stdin, process.stdout);`;

let folder: string;
beforeAll(() => {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  folder = mkdtempSync(join(projectRoot, "build", "planted-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `assay conformance serve`, with a fault in it. @returns the command that starts it */
async function withFault(mutant: Mutant | undefined, name: string): Promise<readonly string[]> {
  const outfile = join(folder, `${name}.mjs`);
  await bundlePlanted(ENTRY, mutant, outfile, true);
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

  test.each(sampled(CONFORMANCE_FAULTS, 6).map((mutant, i) => ({ name: mutant.name, mutant, i })))(
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
