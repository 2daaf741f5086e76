import { beforeAll, describe, expect, test } from "vitest";
import { areasNamed, runConformance } from "../../conformance/run.ts";
import { buildProgram } from "../support/rust.ts";
import { scaled } from "../support/scale.ts";

/** Compared elements, at least. */
const ELEMENTS = scaled(100_000, 1_000_000);
const FIRST = 2_000_000 + 1_000_000 * Number(process.env.FUZZ_SEED ?? 0);

let binary: string;
beforeAll(() => {
  binary = buildProgram();
});

describe("assay-exact lines", () => {
  test(`behavior: ${ELEMENTS.toLocaleString("en-US")} elements of all areas, without a difference`, async () => {
    const asked = { seed: FIRST, elements: ELEMENTS, timeoutMs: 60_000, areas: areasNamed([]) };
    const results = await runConformance([binary, "lines"], asked);
    const rows = results.map(({ area, cases, elements }) =>
      [area.padEnd(11), ...[cases, elements].map((n) => n.toLocaleString("en-US").padStart(10))].join(""),
    );
    process.stdout.write(`compared with Rust: area, cases, elements\n${rows.join("\n")}\n`);
    expect(results.filter(({ differences, fault, missing }) => differences > 0 || fault || missing)).toEqual(
      [],
    );
    expect(results.reduce((sum, { elements }) => sum + elements, 0)).toBeGreaterThan(ELEMENTS);
  });
});
