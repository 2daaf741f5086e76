import { describe, expect, test } from "vitest";
import { equalBytes } from "../../../base/bytes.ts";
import { commitLastStep } from "../../../conformance/generate/committed-step.ts";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { judge } from "../../../conformance/reference/judge.ts";
import { foldOpening, outputRead, readsOf } from "../../../inference/commit/openings.ts";
import { isWeight, OPCODES } from "../../../inference/program/form.ts";
import { createRng } from "../../support/rng.ts";

/** Sane programs, programs with hostile weights, and traces whose operands hold any stored bytes. */
const MODES = [
  ["sane", { hostile: false }, false],
  ["hostile weights", { hostile: true }, false],
  ["any operands", { hostile: true }, true],
] as const;

const PROGRAMS = 25;
const ELEMENTS = 12;

describe.each(OPCODES.filter((opcode) => opcode !== "codec"))("%s", (opcode) => {
  test.each(MODES)("behavior: the executor equals the exact reference, %s", (_name, options, lie) => {
    const variants = new Set<number>();
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const rng = createRng(seed);
      const program = seededProgram(seed, { opcode, ...options });
      const committed = commitLastStep(rng, program, lie);
      const { model } = program;
      const { step, trace, weights, dataOf } = committed;
      variants.add(model.program.steps[step]?.variant as number);
      const count = committed.tensors[step]?.data.length as number;
      for (let i = 0; i < ELEMENTS; i++) {
        const element = rng.int(0, count - 1);
        const openings = committed.openings(element);
        const reads = [
          outputRead(model.program, step, element),
          ...readsOf(model.program, step, element, dataOf),
        ];
        reads.forEach((read, slot) => {
          const root = foldOpening(model.program, read, openings[slot] as (typeof openings)[number]);
          expect(equalBytes(root, isWeight(read.operand) ? weights.root : trace.root)).toBe(true);
        });
        const found = committed.expected(element);
        const right = Number(judge(model.program, step, element, openings));
        if (found !== right) {
          expect.fail(`seed ${seed}, element ${element}: executor ${found}, reference ${right}`);
        }
      }
    }
    const several = ["lookup", "dot", "requant", "arith", "float", "reduce"].includes(opcode);
    expect(variants.size).toBeGreaterThan(several ? 1 : 0);
  });
});
