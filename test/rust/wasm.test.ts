import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rustModule } from "../../bench/rust-module.ts";
import { shapedProgram } from "../../conformance/generate/shaped-program.ts";
import { outputsOf } from "../support/program-fuzz.ts";
import { buildWasm } from "../support/rust.ts";

const FIRST = 5_000_000;
const PROGRAMS = 60;

const path = buildWasm();
if (path === undefined)
  process.stdout.write("assay-wasm is skipped: rustup has no target wasm32-unknown-unknown.\n");

describe("crates/assay-wasm", () => {
  test.runIf(path !== undefined)("behavior: outputs of random programs are the executor's", async () => {
    const module = new Uint8Array(readFileSync(path as string));
    for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
      const subject = shapedProgram(seed);
      const run = await rustModule(module, subject.model, subject.selector);
      expect(subject.inputs.map(run), `program ${seed}`).toEqual(outputsOf(subject));
      expect(() => run(subject.selector.map((byte) => byte ^ 1))).toThrow(
        /assay-wasm: calldata do not begin/,
      );
    }
  });
});
