import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { concatBytes, toHex } from "../../base/bytes.ts";
import { shapedProgram } from "../../conformance/generate/shaped-program.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { outputsOf } from "../support/program-fuzz.ts";
import { buildProgram } from "../support/rust.ts";

const subject = shapedProgram(4_000_000);
let binary: string;
let folder: string;

beforeAll(() => {
  binary = buildProgram();
  folder = mkdtempSync(join(tmpdir(), "assay-exact-"));
  const { model, inputs } = subject;
  writeFileSync(join(folder, "program.bin"), encodeProgram(model.program));
  writeFileSync(join(folder, "weights.bin"), concatBytes(...model.weights));
  for (const [i, input] of inputs.entries()) writeFileSync(join(folder, `input-${i}`), input);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...files: readonly string[]) =>
  spawnSync(binary, ["run", ...files], { cwd: folder, encoding: "utf8" });

describe("assay-exact run", () => {
  test("default: a line of return data for each file of calldata", () => {
    const { status, stdout } = run(
      "program.bin",
      "weights.bin",
      ...subject.inputs.map((_, i) => `input-${i}`),
    );
    expect(stdout.trim().split("\n")).toEqual(outputsOf(subject).map(toHex));
    expect(status).toBe(0);
  });

  test("error: files that are not there or hold something else, and too few arguments", () => {
    const missing = run("program.bin", "weights.bin", "nowhere");
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining("nowhere: ")]);
    const swapped = run("weights.bin", "weights.bin", "input-0");
    expect([swapped.status, swapped.stderr]).toEqual([1, expect.stringContaining("program")]);
    const shorter = run("program.bin", "input-0", "input-0");
    expect([shorter.status, shorter.stderr]).toEqual([
      1,
      expect.stringContaining("bytes of weights, expected"),
    ]);
    const few = run("program.bin", "weights.bin");
    expect([few.status, few.stderr]).toEqual([2, expect.stringContaining("assay-exact run PROGRAM WEIGHTS")]);
  });
});
