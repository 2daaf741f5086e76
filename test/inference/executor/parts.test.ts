/** How a step's elements are parted between two threads. */
import { expect, it } from "vitest";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { LEAST_WORK, partLength } from "../../../inference/executor/parts.ts";
import { stepWork } from "../../../inference/executor/quick.ts";
import { rowLength } from "../../../inference/opcodes/opcode.ts";
import { MOST_TOGETHER } from "../../../inference/opcodes/products.ts";
import { elementCount, type Step } from "../../../inference/program/form.ts";
import { createRng } from "../../support/rng.ts";

it("behavior: parts are whole rows, and at least two", () => {
  const parted = new Map<string, number>();
  for (let seed = 0; seed < 400; seed++) {
    const rng = createRng(seed);
    const { program } = seededProgram(seed).model;
    for (const step of program.steps) {
      const row = rowLength(step);
      const rows = elementCount(step.dims) / row;
      const [first, last] = [rng.int(0, rows - 1), rng.int(1, rows)].sort((x, y) => x - y) as [
        number,
        number,
      ];
      const span = { from: first * row, to: Math.max(last, first + 1) * row };
      const length = partLength(program, step, span, 1);
      if (length === undefined) continue;
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThan(span.to - span.from);
      expect(length % row).toBe(0);
      parted.set(step.opcode, (parted.get(step.opcode) ?? 0) + 1);
    }
  }
  for (const opcode of [
    "move",
    "lookup",
    "dot",
    "requant",
    "rescale",
    "table",
    "arith",
    "float",
    "reduce",
    "select",
  ])
    expect(parted.get(opcode), opcode).toBeGreaterThan(3);
});

it("behavior: what is done sooner than it is handed over is not parted; large parts share loads of weights", () => {
  const { program } = seededProgram(0).model;
  const stepOf = (rows: number, columns: number): Step => ({
    ...{ opcode: "float", variant: 0, type: "f32", dims: [rows, columns] },
    ...{ a: 0, b: 0, c: 0, k: 0, coordinates: [] },
  });
  const lengthOf = (rows: number, columns: number) => {
    const step = stepOf(rows, columns);
    return partLength(program, step, { from: 0, to: rows * columns });
  };
  expect(stepWork(program, stepOf(2, LEAST_WORK), 2 * LEAST_WORK)).toBe(2 * LEAST_WORK);
  expect(lengthOf(2, LEAST_WORK - 1)).toBeUndefined();
  expect(lengthOf(2, LEAST_WORK)).toBe(LEAST_WORK);
  expect(lengthOf(1, 9 * LEAST_WORK)).toBeUndefined();
  expect(lengthOf(288, LEAST_WORK)).toBe(3 * MOST_TOGETHER * LEAST_WORK);
});
