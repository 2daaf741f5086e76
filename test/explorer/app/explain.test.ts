import { describe, expect, it } from "vitest";
import { randomProgram } from "../../../conformance/generate/random-program.ts";
import { createRng } from "../../../conformance/generate/rng.ts";
import { explain } from "../../../explorer/app/verify/arithmetic/explain.ts";
import { trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import {
  elementCount,
  isActivationDot,
  OPCODES,
  type Opcode,
  type Step,
  type Tensor,
} from "../../../inference/program/form.ts";
import { storedElement } from "../../../inference/program/tensor.ts";
import { scaled } from "../../support/scale.ts";

const PROGRAMS = scaled(12, 120, 1_200);
const ELEMENTS = 40;
const EXPLAINED = OPCODES.filter((opcode) => opcode !== "codec");

interface Compared {
  readonly count: number;
  readonly wrong: readonly string[];
}

/** Explains elements of every step of random programs, and compares each with the executor's tensor.
 *  @param change plants a fault in what the executor computed */
function compare(opcode: Opcode, hostile: boolean, change: (tensor: Tensor) => void = () => {}): Compared {
  const rng = createRng(2 * OPCODES.indexOf(opcode) + Number(hostile));
  const wrong: string[] = [];
  let count = 0;
  for (let i = 0; i < PROGRAMS; i++) {
    const { model, selector, calldata } = randomProgram(rng, { opcode, hostile });
    const prepared = prepare(model, selector);
    const tensors = trace(prepared, calldata);
    const expected = tensors.map(({ data }) => data.slice());
    for (const tensor of tensors.slice(-1)) change(tensor);
    model.program.steps.forEach((step: Step, s) => {
      if (step.opcode === "codec") return;
      for (let n = 0; n < Math.min(ELEMENTS, elementCount(step.dims)); n++) {
        const element = rng.int(0, elementCount(step.dims) - 1);
        const found = explain(model, tensors, (operand) => prepared.constant(operand), s, element);
        count++;
        const computed = s === tensors.length - 1 ? (tensors[s] as Tensor).data : expected[s];
        if (found?.stored !== storedElement(computed as Tensor["data"], element)) {
          wrong.push(`${step.opcode} ${step.variant} ${step.type}[${step.dims}] element ${element}`);
        }
      }
    });
  }
  return { count, wrong };
}

describe("explain", () => {
  for (const opcode of EXPLAINED) {
    it(`args: an element of ${opcode} is what the executor computes`, () => {
      for (const hostile of [false, true]) {
        const { count, wrong } = compare(opcode, hostile);
        expect(wrong).toEqual([]);
        expect(count).toBeGreaterThan(PROGRAMS);
      }
    });

    it(`behavior: a wrong byte of ${opcode} is found`, () => {
      const { wrong } = compare(opcode, false, ({ data }) => {
        // The lowest bit of every element: of binary32 too.
        const bits =
          data instanceof Uint8Array ? data : new Int32Array(data.buffer, data.byteOffset, data.length);
        for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] as number) ^ 1;
      });
      expect(wrong.length).toBeGreaterThan(0);
    });
  }

  it("behavior: a DOT of two computed rows is shown as products of their values", () => {
    const rng = createRng(6);
    let seen = 0;
    while (seen < 20) {
      const { model, selector, calldata } = randomProgram(rng, { opcode: "dot" });
      const step = model.program.steps.findIndex(isActivationDot);
      if (step === -1) continue;
      seen++;
      const prepared = prepare(model, selector);
      const tensors = trace(prepared, calldata);
      const { dims, a, b } = model.program.steps[step] as Step;
      const element = rng.int(0, elementCount(dims) - 1);
      const found = explain(model, tensors, (operand) => prepared.constant(operand), step, element);
      const { terms = [], sum, activationsFrom, weightsFrom } = found?.dot ?? {};
      expect(terms.reduce((all, { activation, weight }) => all + activation * weight, 0)).toBe(sum);
      expect(found?.value).toBe(sum);
      expect(found?.stored).toBe(storedElement((tensors[step] as Tensor).data, element));
      const names = [a, b].map((operand) =>
        operand < 0x8000 ? `step ${operand}` : `weights ${operand - 0x8000}`,
      );
      expect([activationsFrom, weightsFrom]).toEqual(names);
    }
  });
});
