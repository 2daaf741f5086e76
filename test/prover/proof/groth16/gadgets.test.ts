import { describe, expect, test } from "vitest";
import { ProgramBuilder } from "../../../../inference/onnx/builder.ts";
import { type Model, OPCODES, type Step } from "../../../../inference/program/form.ts";
import { circuitSize, compileCircuit } from "../../../../prover/proof/groth16/compile.ts";
import { GADGETS } from "../../../../prover/proof/groth16/gadgets/generated/index.ts";
import { satisfies } from "../../../../prover/proof/groth16/satisfies.ts";
import { CIRCUIT_PROGRAMS } from "../../../support/circuit-programs.ts";
import { CircuitPair } from "../../../support/circuit-run.ts";
import { createRng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";

const INPUTS = scaled(200, 1000);
/** Runs whose whole witness is checked, not only its output. */
const CHECKED = scaled(25, 100);

const programOf = (name: string): Model => {
  const found = CIRCUIT_PROGRAMS.find((program) => program.name === name);
  if (found === undefined) throw new TypeError(`no program ${name}`);
  return found.model;
};

function withStep(model: Model, change: Partial<Step>): Model {
  const { steps } = model.program;
  const last = { ...(steps.at(-1) as Step), ...change };
  return { ...model, program: { ...model.program, steps: [...steps.slice(0, -1), last] } };
}

describe("GADGETS", () => {
  test("default: one gadget an opcode, each with programs that go all its ways", () => {
    expect(Object.keys(GADGETS).sort()).toEqual(OPCODES.filter((o) => o !== "codec").sort());
    const tested = new Set(CIRCUIT_PROGRAMS.map(({ opcode }) => opcode));
    expect(OPCODES.filter((opcode) => !tested.has(opcode))).toEqual(["float"]);
  });

  test.each(CIRCUIT_PROGRAMS)("behavior: $name: the output is the executor's", ({ model }) => {
    const rng = createRng(21);
    const pair = new CircuitPair(model);
    for (let i = 0; i < INPUTS; i++) {
      const { witness, expected } = pair.random(rng);
      expect(witness.slice(1, 1 + expected.length)).toEqual(expected);
      if (i < CHECKED) expect(satisfies(pair.circuit.r1cs, witness)).toEqual({ satisfied: true });
    }
  });

  test.each(CIRCUIT_PROGRAMS)("behavior: $name: counting gives what building gives", ({ model }) => {
    const { constraints } = compileCircuit(model).r1cs;
    const size = circuitSize(model);
    expect(size.constraints).toBe(constraints.length);
    expect(size.coefficients).toBe(constraints.reduce((sum, { a, b }) => sum + a.length + b.length, 0));
    expect(size.costs.reduce((sum, cost) => sum + cost.constraints, 0)).toBe(constraints.length);
  });

  test("error: binary32 requantization names the step and --nudge", () => {
    const model = withStep(programOf("dot: u8 without clamps"), { variant: 2 });
    expect(() => compileCircuit(model)).toThrowError(
      expect.objectContaining({
        code: "NO_CIRCUIT",
        message:
          "Step 1 (dot binary32 u8 [1, 2]) requantizes in binary32; only the integer form has a circuit. Import the model again with --nudge, which moves scales until the integer form exists.",
      }),
    );
  });

  test("error: FLOAT names the step", () => {
    const model = programOf("codec: raw u8, more than one signal");
    const { steps } = model.program;
    const float: Step = { ...(steps[0] as Step), opcode: "float", variant: 11, type: "f32", a: 0, k: 0 };
    const back: Step = { ...float, variant: 12, type: "u8", a: 1 };
    const program = { ...model.program, steps: [...steps, float, back] };
    expect(() => compileCircuit({ ...model, program })).toThrowError(
      expect.objectContaining({
        code: "NO_CIRCUIT",
        shortMessage:
          "Step 1 (float tofloat f32 [32]) computes binary32 tofloat; only integers have a circuit.",
      }),
    );
  });

  test("error: an element by distances names the step", () => {
    const builder = new ProgramBuilder("raw", 4);
    const numbers = builder.arith("cast", "s32", builder.codec("u8", [2, 2], 0));
    builder.below(numbers, builder.plain("u8", [3, 1], Uint8Array.of(7, 8, 9)));
    expect(() => compileCircuit(builder.model("raw"))).toThrowError(
      expect.objectContaining({
        code: "NO_CIRCUIT",
        message:
          "Step 2 (lookup below u8 [2, 2]) looks up elements by how far numbers are below their row's largest, which has no circuit. Leave out the lane PROOF.",
      }),
    );
  });

  test("error: an element for each id names the step", () => {
    const builder = new ProgramBuilder("raw", 4);
    const ids = builder.arith("cast", "s32", builder.codec("u8", [2, 2], 0));
    builder.each(ids, builder.plain("u8", [3, 1], Uint8Array.of(7, 8, 9)));
    expect(() => compileCircuit(builder.model("raw"))).toThrowError(
      expect.objectContaining({
        code: "NO_CIRCUIT",
        message:
          "Step 2 (lookup each u8 [2, 2]) looks up an element for each id, which has no circuit. Leave out the lane PROOF.",
      }),
    );
  });

  test("error: f32 input", () => {
    const model = withStep(programOf("codec: raw s32 across two signals"), { type: "f32" });
    expect(() => compileCircuit(model)).toThrowError(expect.objectContaining({ code: "NO_PUBLIC_SIGNALS" }));
  });
});
