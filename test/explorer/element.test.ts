import { describe, expect, it } from "vitest";
import { randomProgram } from "../../conformance/generate/random-program.ts";
import { decodeElement } from "../../explorer/decode/element.ts";
import { commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { openElement } from "../../inference/commit/openings.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import {
  elementCount,
  isActivationDot,
  isWeight,
  lastDim,
  type Opcode,
  type Step,
  type Tensor,
} from "../../inference/program/form.ts";
import { createRng } from "../support/rng.ts";

const PROGRAMS = 150;
const ELEMENTS = 6;

const valueAt = ({ type, data }: Tensor, i: number): number =>
  (data[i] as number) - (type === "s8" ? 128 : 0);

/** Each number of an integer requantization follows from the one before. */
function expectSteps(arithmetic: ReturnType<typeof decodeElement>["arithmetic"]): void {
  if (arithmetic.kind === "operands" || arithmetic.kind === "rows") return;
  if (arithmetic.requantization.form !== "integer") return;
  const { accumulator, parameters, requantization } = arithmetic;
  const { product, sum, shifted } = requantization;
  const expected = BigInt(accumulator) * BigInt(parameters.multiplier);
  expect(product).toBe(`${expected}`);
  expect(sum).toBe(`${BigInt.asIntN(64, expected + BigInt(parameters.addend))}`);
  expect(shifted).toBe(`${BigInt(sum as string) >> BigInt(parameters.shift & 63)}`);
}

describe("decodeElement", () => {
  it("default: the values of operands and element are those of the run, over random programs of every opcode", () => {
    const rng = createRng(21);
    const seen = new Map<Opcode, number>();
    let recomputed = 0;
    for (let i = 0; i < PROGRAMS; i++) {
      const { model, selector, calldata } = randomProgram(rng, { hostile: rng.chance(0.3) });
      const prepared = prepare(model, selector);
      const tensors = trace(prepared, calldata);
      const { program } = model;
      const [committed, weights] = [commitTrace(program, tensors), commitWeights(model)];
      const dataOf = (operand: number) => tensors[operand]?.data ?? prepared.constant(operand);
      for (const [index, step] of program.steps.entries()) {
        if (step.opcode === "codec") continue;
        const count = elementCount(step.dims);
        for (let n = 0; n < ELEMENTS; n++) {
          const element = rng.int(0, count - 1);
          const openings = openElement(program, index, element, committed, weights, dataOf);
          const decoded = decodeElement(
            program,
            index,
            element,
            openings.map(({ words }) => words),
          );
          seen.set(step.opcode, (seen.get(step.opcode) ?? 0) + 1);
          const own = tensors[index] as Tensor;
          const expected = valueAt(own, element);
          for (const operand of decoded.operands) {
            if (operand.source === "weights") continue;
            const tensor = tensors[operand.index] as Tensor;
            const last = lastDim(tensor.dims);
            const perWord = 32 / (tensor.type === "s32" || tensor.type === "f32" ? 4 : 1);
            const first = operand.row * last + (operand.word ?? 0) * perWord;
            expect(operand.values).toEqual(operand.values.map((_, at) => valueAt(tensor, first + at)));
            expect(operand.values.length).toBe(
              operand.word === undefined ? last : Math.min(perWord, last - operand.word * perWord),
            );
          }
          const at = decoded.coordinates.reduce(
            (all, one, axis) => all * (step.dims[axis] as number) + one,
            0,
          );
          expect(at).toBe(element);
          expectSteps(decoded.arithmetic);
          if (decoded.recomputed === undefined) continue;
          recomputed += 1;
          expect(decoded.recomputed, `${step.opcode} of program ${i}`).toBe(expected);
        }
      }
    }
    const opcodes = [...seen.keys()].sort();
    expect(opcodes).toEqual(
      ["arith", "dot", "float", "lookup", "move", "reduce", "requant", "rescale", "select", "table"].sort(),
    );
    expect(recomputed).toBeGreaterThan(300);
    for (const opcode of ["dot", "requant", "rescale"] as const) expect(seen.get(opcode)).toBeGreaterThan(50);
  });

  it("behavior: the products of a DOT add up to what its accumulator shows, weight by weight", () => {
    const rng = createRng(3);
    let seen = 0;
    while (seen < 30) {
      const { model, selector, calldata } = randomProgram(rng, {});
      const prepared = prepare(model, selector);
      const tensors = trace(prepared, calldata);
      const { program } = model;
      const step = program.steps.findIndex((one) => one.opcode === "dot" && !isActivationDot(one));
      if (step === -1) continue;
      seen += 1;
      const record = program.steps[step] as Step;
      const element = rng.int(0, elementCount(record.dims) - 1);
      const openings = openElement(
        ...([program, step, element, commitTrace(program, tensors), commitWeights(model)] as const),
        (operand) => tensors[operand]?.data ?? prepared.constant(operand),
      );
      const { arithmetic, operands } = decodeElement(
        program,
        step,
        element,
        openings.map(({ words }) => words),
      );
      if (arithmetic.kind !== "dot") throw new Error("a DOT is no dot product");
      expect(isWeight(record.b)).toBe(true);
      const { products, weights, activations, storedWeights, parameters, sum, accumulator } = arithmetic;
      expect(products).toEqual(activations.map((value, i) => value * (weights[i] as number)));
      expect(weights).toEqual(storedWeights.map((stored) => stored - parameters.weightOffset));
      expect(operands[2]?.values).toEqual(storedWeights);
      expect((products.reduce((all, product) => all + product, 0) + parameters.bias) | 0).toBe(accumulator);
      expect(sum + parameters.bias - accumulator).toBe(0);
    }
  });

  it("behavior: a DOT of two computed rows shows their values, of the rows that the step reads", () => {
    const rng = createRng(4);
    let [seen, signed] = [0, 0];
    while (seen < 30) {
      const { model, selector, calldata } = randomProgram(rng, { opcode: "dot" });
      const prepared = prepare(model, selector);
      const tensors = trace(prepared, calldata);
      const { program } = model;
      const step = program.steps.findIndex(isActivationDot);
      if (step === -1) continue;
      seen += 1;
      const record = program.steps[step] as Step;
      const element = rng.int(0, elementCount(record.dims) - 1);
      const openings = openElement(
        ...([program, step, element, commitTrace(program, tensors), commitWeights(model)] as const),
        (operand) => tensors[operand]?.data ?? prepared.constant(operand),
      );
      const { arithmetic, operands, recomputed } = decodeElement(
        program,
        step,
        element,
        openings.map(({ words }) => words),
      );
      if (arithmetic.kind !== "rows") throw new Error("no two rows");
      const n = lastDim(record.dims);
      const row = Math.floor(element / n);
      const rows = [row, Math.floor(row / record.k) * n + (element % n)] as const;
      expect(operands.slice(1).map(({ name }) => name)).toEqual(["a", "b"]);
      for (const [i, operand] of [record.a, record.b].entries()) {
        const tensor = tensors[operand];
        if (tensor === undefined) continue;
        const k = lastDim(tensor.dims);
        const from = (rows[i] as number) * k;
        const values = Array.from({ length: k }, (_, at) => valueAt(tensor, from + at));
        expect([arithmetic.left, arithmetic.right][i]).toEqual(values);
        signed += tensor.type === "s8" ? 1 : 0;
      }
      const products = arithmetic.left.map((value, i) => value * (arithmetic.right[i] as number));
      expect(arithmetic.products).toEqual(products);
      expect(recomputed).toBe(valueAt(tensors[step] as Tensor, element));
      expect(recomputed).toBe(products.reduce((all, product) => all + product, 0));
    }
    expect(signed).toBeGreaterThan(5);
  });
});
