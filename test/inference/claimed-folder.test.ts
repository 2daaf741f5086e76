import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { Model } from "../../inference/program/form.ts";
import { writeClaimedFolder } from "../support/claimed-folder.ts";
import { running } from "../support/claimed-models.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "assay-claimed-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Without the move that looks at the token before: each token is found right by itself. */
function unshifted(): Model {
  const model = running(1);
  const steps = model.program.steps.map((step, i) => (i === 3 ? { ...step, b: 1 } : step));
  return { ...model, program: { ...model.program, steps } };
}

describe("loadModelFolder", () => {
  it("default: a causal program, with judge version 2", () => {
    const directory = join(folder, "causal");
    writeClaimedFolder(directory, "causal", running(8));
    expect(loadModelFolder(directory).commitment.judgeVersion).toBe(2);
  });

  it("error: a program that is not causal, whose manifest is right in all else", () => {
    const directory = join(folder, "not-causal");
    // A table of one number hides what is claimed, so that this one is causal; another entry shows it.
    const model = unshifted();
    const found = { ...model, weights: [new Uint8Array(511).fill(7)] };
    writeClaimedFolder(directory, "not-causal", found);
    expect(() => loadModelFolder(directory)).not.toThrow();
    const other = { ...model, weights: [Uint8Array.from({ length: 511 }, (_, i) => (i === 510 ? 8 : 7))] };
    writeClaimedFolder(directory, "not-causal", other);
    expect(() => loadModelFolder(directory)).toThrow(
      expect.objectContaining({
        code: "CAUSALITY_UNPROVEN",
        shortMessage: expect.stringContaining(
          "Row 0 of the output can depend on row 0 of the claimed output",
        ),
      }),
    );
  });

  it.each(["EXECUTION", "PROOF"] as const)("error: the lane %s", (lane) => {
    expect(() => writeClaimedFolder(join(folder, lane), "lanes", running(8), ["BOND", lane])).toThrow(
      `Step 1 reads the claimed output, which the lane ${lane} does not have: the model has BOND alone.`,
    );
  });
});
