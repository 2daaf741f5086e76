import { describe, expect, test } from "vitest";
import { randomProgram } from "../../../conformance/generate/random-program.ts";
import { commitTrace, commitWeights } from "../../../inference/commit/commitments.ts";
import { openedReads } from "../../../inference/commit/opened.ts";
import { openElement, readsOf } from "../../../inference/commit/openings.ts";
import { trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { elementCount, isBelow, NONE } from "../../../inference/program/form.ts";
import { createRng } from "../../support/rng.ts";

const PROGRAMS = 150;
const ELEMENTS = 6;

describe("openedReads", () => {
  test("default: words that are opened say what is read, as the whole content of the operands does", () => {
    const rng = createRng(9);
    const seen = { lookup: 0, table: 0, masked: 0 };
    for (let i = 0; i < PROGRAMS; i++) {
      const { model, selector, calldata } = randomProgram(rng, { hostile: rng.chance(0.3) });
      const prepared = prepare(model, selector);
      const tensors = trace(prepared, calldata);
      const { program } = model;
      const [committed, weights] = [commitTrace(program, tensors), commitWeights(model)];
      const dataOf = (operand: number) => tensors[operand]?.data ?? prepared.constant(operand);
      for (const [index, step] of program.steps.entries()) {
        if (step.opcode === "codec") continue;
        if (step.opcode === "lookup" || step.opcode === "table") seen[step.opcode]++;
        if (isBelow(step) && step.c !== NONE) seen.masked++;
        for (let n = 0; n < ELEMENTS; n++) {
          const element = rng.int(0, elementCount(step.dims) - 1);
          const [, ...others] = openElement(program, index, element, committed, weights, dataOf);
          const right = readsOf(program, index, element, dataOf);
          for (const more of [0, 1, 40]) {
            // Nor does it matter what is opened beyond a row.
            const opened = others.map(({ words }) => [...words, ...Array(more).fill(new Uint8Array(32))]);
            const found = openedReads(program, index, element, opened);
            expect(found, `program ${i}, step ${index}, element ${element}, ${more} words`).toEqual(right);
          }
        }
      }
    }
    expect(Math.min(seen.lookup, seen.table, seen.masked), JSON.stringify(seen)).toBeGreaterThan(2);
  });

  test("error: a step that the program does not have", () => {
    const { model } = randomProgram(createRng(1), {});
    expect(() => openedReads(model.program, model.program.steps.length, 0, [])).toThrow(
      expect.objectContaining({ code: "ELEMENT_OUTSIDE" }),
    );
  });
});
