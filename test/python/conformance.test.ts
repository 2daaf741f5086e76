/** The executor in NumPy, as it is installed, against the canonical one. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { areasNamed, runConformance } from "../../conformance/run.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { Mutant } from "../../tools/mutant.ts";
import { mutate } from "../../tools/mutants.ts";
import { PACKAGE } from "../../tools/python.ts";
import { run } from "../support/python.ts";
import { PYTHON_FAULTS, VECTOR_FAULT } from "../support/python-faults.ts";
import { sampled, scaled } from "../support/scale.ts";

/** As many are asked for; areas with a fixed number of cases bring it above the least. */
const ELEMENTS = scaled(100_000, 700_000);
/** Among which a planted fault must be found. */
const SEARCHED = 2_000_000;
const LEAST = scaled(150_000, 1_000_000);
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
  test(`behavior: ${LEAST.toLocaleString("en-US")} elements of every area, no difference`, async () => {
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
    expect(total).toBeGreaterThanOrEqual(LEAST);
  });

  test.each(sampled(PYTHON_FAULTS, 4).map((mutant) => ({ name: mutant.name, mutant })))(
    "behavior: $name is found",
    async ({ mutant }) => {
      const areas = areasNamed([mutant.caughtBy]);
      const asked = { seed: FIRST, elements: SEARCHED, timeoutMs: PATIENCE_MS, areas, untilFirst: true };
      const [result] = await runConformance(withFault(mutant), asked);
      expect(result?.fault).toBeUndefined();
      expect(result?.first?.what).toBeDefined();
    },
  );

  test(`behavior: ${VECTOR_FAULT.name} is found by the vectors`, async () => {
    const copy = copyWith(VECTOR_FAULT);
    const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/exact/test_vectors.py"];
    const { code, printed } = await run(inject("python"), args, { env: { PYTHONPATH: copy } });
    expect(code).toBe(1);
    expect(printed.match(/^FAILED .*::(\w+)/gm)).toEqual([
      expect.stringMatching(`::${VECTOR_FAULT.caughtBy}$`),
    ]);
  });
});

/** A copy of the package with the fault in it. */
function copyWith(mutant: Mutant): string {
  const copy = mkdtempSync(join(folder, "src-"));
  cpSync(SOURCES, copy, { recursive: true });
  const files = mutant.edits.map(({ file }) => file);
  const sources = new Map(files.map((file) => [file, readFileSync(join(copy, file), "utf8")]));
  for (const [file, text] of mutate(sources, mutant)) writeFileSync(join(copy, file), text);
  return copy;
}

const withFault = (mutant: Mutant): readonly string[] => [
  ...["env", `PYTHONPATH=${copyWith(mutant)}`, "PYTHONDONTWRITEBYTECODE=1"],
  ...lines,
];
