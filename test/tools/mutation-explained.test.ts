import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { instrument } from "../../tools/mutation/mutants.ts";

const read = (path: string): string => readFileSync(join(projectRoot, path), "utf8");
const explanations = JSON.parse(read("tools/mutation/explained.json")) as { file: string; mutant: string }[];

describe("explained.json", () => {
  it("invariant: every explanation is of a fault that the tool makes today", () => {
    const namesOf = new Map<string, Set<string>>();
    for (const { file } of explanations) {
      if (namesOf.has(file)) continue;
      const { mutants } = instrument(file, read(file), 1);
      namesOf.set(file, new Set(mutants.map(({ name }) => name)));
    }
    expect(explanations.length).toBeGreaterThan(0);
    expect(explanations.filter(({ file, mutant }) => !namesOf.get(file)?.has(mutant))).toEqual([]);
  });
});
