/** The references are awake: each finds the faults that are planted in its operator's lowering. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../../tools/foundry.ts";
import { OPERATOR_FAULTS } from "../../support/references/faults/faults.ts";
import { withFault } from "../../support/references/planted.ts";
import { REFERENCES } from "../../support/references/references.ts";
import { sampled } from "../../support/scale.ts";

/** Cases in which a fault must be seen. */
const CASES = 120;
beforeAll(() => {
  mkdirSync(join(projectRoot, "build"), { recursive: true });
});

describe("a fault planted in the importer", () => {
  it("behavior: every operator has some", () => {
    const planted = new Set(OPERATOR_FAULTS.map(({ caughtBy }) => caughtBy));
    expect(Object.keys(REFERENCES).filter((name) => !planted.has(name))).toEqual([]);
  });

  it("behavior: nothing is found without one", async () => {
    const find = await withFault(undefined);
    expect(Object.keys(REFERENCES).filter((name) => find(name, 3) !== undefined)).toEqual([]);
  });

  it("behavior: all are found", async () => {
    const survivors: string[] = [];
    const planted = sampled(OPERATOR_FAULTS, 6);
    for (const fault of planted) {
      const find = await withFault(fault);
      if (find(fault.caughtBy, CASES) === undefined) survivors.push(fault.name);
    }
    const found = planted.length - survivors.length;
    process.stdout.write(`operators: ${found} of ${planted.length} planted faults found\n`);
    expect(survivors).toEqual([]);
  });
});
