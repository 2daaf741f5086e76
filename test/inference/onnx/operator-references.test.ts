/** Operators against plain references of their definitions, over random shapes, types and attributes; and onnxruntime on
 *  the same graphs against the same references. */
import { describe, expect, it } from "vitest";
import { DIRECTED } from "../../support/references/directed.ts";
import {
  findFault,
  importDifference,
  REFERENCES,
  referenceCase,
} from "../../support/references/references.ts";
import { runtimeDifference } from "../../support/references/runtime.ts";
import { scaled } from "../../support/scale.ts";

const CASES = scaled(20, 600);
const RUNTIME_CASES = scaled(12, 150);
const NAMES = Object.keys(REFERENCES);

describe("a program that import makes", () => {
  it.each(NAMES)("behavior: %s gives what its reference gives", (name) => {
    expect(findFault(name, CASES)).toBeUndefined();
  });

  it.each(Object.entries(DIRECTED))("behavior: %s, every mode and border", (_, cases) => {
    for (const made of cases())
      expect(importDifference(made), JSON.stringify(made.graph.nodes.at(-1))).toBeUndefined();
  });
});

describe("onnxruntime on the file", () => {
  const counts = { compared: 0, missing: 0 };

  it.each(NAMES)("behavior: %s gives what the reference gives", async (name) => {
    const missing: number[] = [];
    for (let seed = 1; seed <= RUNTIME_CASES; seed++) {
      const difference = await runtimeDifference(referenceCase(name, seed));
      if (difference === "missing") missing.push(seed);
      else expect(difference, `seed ${seed}`).toBeUndefined();
    }
    // Some types and forms it has not, but of every operator some.
    expect(missing.length).toBeLessThan(RUNTIME_CASES);
    counts.compared += RUNTIME_CASES - missing.length;
    counts.missing += missing.length;
  });

  it.each(Object.entries(DIRECTED))("behavior: %s, every mode and border", async (_, cases) => {
    for (const made of cases()) {
      const difference = await runtimeDifference(made);
      if (difference !== "missing")
        expect(difference, JSON.stringify(made.graph.nodes.at(-1))).toBeUndefined();
    }
  });

  it("behavior: runs nearly all of the graphs", () => {
    process.stdout.write(
      `onnxruntime: ${counts.compared} graphs compared, ${counts.missing} without a kernel\n`,
    );
    expect(counts.compared).toBeGreaterThan(8 * counts.missing);
  });
});
