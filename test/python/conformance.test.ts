/** The executor in NumPy, as it is installed, against the canonical one. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { areasNamed, runConformance } from "../../conformance/run.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { Mutant } from "../../tools/mutant.ts";
import { mutate } from "../../tools/mutants.ts";
import { PACKAGE } from "../../tools/python.ts";
import { PYTHON_FAULTS } from "../support/python-faults.ts";

const ELEMENTS = 1_000_000;
const FIRST = 2_000_000;
const PATIENCE_MS = 300_000;
const SOURCES = join(PACKAGE, "src");

const lines = [inject("python"), "-m", "assay.exact", "lines"];
let folder: string;

beforeAll(() => {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  folder = mkdtempSync(join(projectRoot, "build", "planted-python-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("python -m assay.exact lines", () => {
  test(`behavior: ${ELEMENTS.toLocaleString("en-US")} elements of every area, no difference`, async () => {
    const asked = { seed: FIRST, elements: ELEMENTS, timeoutMs: PATIENCE_MS, areas: areasNamed([]) };
    const results = await runConformance(lines, asked);
    const rows = results.map(({ area, cases, elements }) =>
      [area.padEnd(12), ...[cases, elements].map((n) => n.toLocaleString("en-US").padStart(10))].join(""),
    );
    const total = results.reduce((sum, { elements }) => sum + elements, 0);
    process.stdout.write(
      `compared with Python\n${rows.join("\n")}\nelements ${total.toLocaleString("en-US")}\n`,
    );
    expect(results.filter(({ differences, fault, missing }) => differences > 0 || fault || missing)).toEqual(
      [],
    );
    expect(total).toBeGreaterThanOrEqual(ELEMENTS);
  });

  test.each(PYTHON_FAULTS.map((mutant) => ({ name: mutant.name, mutant })))(
    "behavior: $name is found",
    async ({ mutant }) => {
      const areas = areasNamed([mutant.caughtBy]);
      const asked = { seed: FIRST, elements: ELEMENTS, timeoutMs: PATIENCE_MS, areas, untilFirst: true };
      const [result] = await runConformance(withFault(mutant), asked);
      expect(result?.fault).toBeUndefined();
      expect(result?.first?.what).toBeDefined();
    },
  );
});

/** The command that starts a copy of the package with the fault in it. */
function withFault(mutant: Mutant): readonly string[] {
  const copy = mkdtempSync(join(folder, "src-"));
  cpSync(SOURCES, copy, { recursive: true });
  const files = mutant.edits.map(({ file }) => file);
  const sources = new Map(files.map((file) => [file, readFileSync(join(copy, file), "utf8")]));
  for (const [file, text] of mutate(sources, mutant)) writeFileSync(join(copy, file), text);
  return ["env", `PYTHONPATH=${copy}`, "PYTHONDONTWRITEBYTECODE=1", ...lines];
}
