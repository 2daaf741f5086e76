import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { areasNamed, runConformance } from "../../conformance/run.ts";
import { OPCODES } from "../../inference/program/form.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { mutate } from "../../tools/mutants.ts";
import { buildProgram, CRATES } from "../support/rust.ts";
import { RUST_FAULTS } from "../support/rust-faults.ts";
import { sampled } from "../support/scale.ts";

const ASKED = { seed: 3_000_000, elements: 1_000_000, timeoutMs: 60_000, untilFirst: true };

/** A difference within a tensor names the step's opcode. */
const named = (area: string): string => ((OPCODES as readonly string[]).includes(area) ? `(${area})` : "");

let folder: string;

beforeAll(() => {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  folder = mkdtempSync(join(projectRoot, "build", "planted-rust-"));
  cpSync(CRATES, folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("assay conformance run", () => {
  test.each(sampled(RUST_FAULTS, 6))("behavior: $name is found", async (fault) => {
    const files = [...new Set(fault.edits.map(({ file }) => file))];
    const sources = new Map(files.map((file) => [file, readFileSync(join(CRATES, file), "utf8")]));
    for (const [file, text] of mutate(sources, fault)) writeFileSync(join(folder, file), text);
    try {
      const command = [buildProgram(folder, join(folder, "target")), "lines"];
      const [result] = await runConformance(command, { ...ASKED, areas: areasNamed([fault.caughtBy]) });
      expect(result?.first?.what).toMatch(named(fault.caughtBy));
    } finally {
      for (const [file, text] of sources) writeFileSync(join(folder, file), text);
    }
  });
});
