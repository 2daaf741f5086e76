import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shapedProgram } from "../../conformance/generate/shaped-program.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { mutate } from "../../tools/mutants.ts";
import { CRATES, compareRuns, RustExecutor } from "../support/rust.ts";
import { RUST_FAULTS } from "../support/rust-faults.ts";

const FIRST = 3_000_000;
/** Random programs, in one of which a step of the fault's opcode must be the first that is wrong. */
const PROGRAMS = 400;

let folder: string;

beforeAll(() => {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  folder = mkdtempSync(join(projectRoot, "build", "planted-rust-"));
  cpSync(CRATES, folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("compareRuns", () => {
  test.each(RUST_FAULTS)("behavior: $name is found", async (fault) => {
    const files = [...new Set(fault.edits.map(({ file }) => file))];
    const sources = new Map(files.map((file) => [file, readFileSync(join(CRATES, file), "utf8")]));
    for (const [file, text] of mutate(sources, fault)) writeFileSync(join(folder, file), text);
    const rust = RustExecutor.build(folder, join(folder, "target"));
    try {
      let found = "";
      for (let i = 0; i < PROGRAMS && !found.includes(fault.caughtBy); i++) {
        found = (await compareRuns(rust, shapedProgram(FIRST + i))).differences.join("\n");
      }
      expect(found).toMatch(fault.caughtBy);
    } finally {
      await rust.close();
      for (const [file, text] of sources) writeFileSync(join(folder, file), text);
    }
  });
});
