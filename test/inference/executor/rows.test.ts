import { describe, expect, it } from "vitest";
import { equalBytes } from "../../../base/bytes.ts";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { type CodecInput, encodeInput } from "../../../inference/codecs/input.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { findByPasses, findByRows, onePass } from "../../../inference/executor/find-output.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import type { RowPlan } from "../../../inference/executor/rows/plan.ts";
import { rowLength } from "../../../inference/opcodes/opcode.ts";
import { type Model, OPCODES, type Opcode, type Tensor } from "../../../inference/program/form.ts";
import { running } from "../../support/claimed-models.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { rowProgram } from "../../support/row-programs.ts";
import { scaled } from "../../support/scale.ts";
import { type SequenceShape, sequenceProgram } from "../../support/sequence-programs.ts";

const selector = Uint8Array.of(1, 2, 3, 4);
const SINGLE = scaled(600, 3_000, 20_000);
const PROGRAMS = scaled(300, 3_000, 10_000);
const SEQUENCES = scaled(25, 200, 1_000);

const calldataOf = ({ program }: Model, rng: Rng): Uint8Array =>
  encodeInput(program, selector, { codec: "raw", bytes: rng.bytes(program.inputSize) });

describe("PreparedModel.runStage", () => {
  /** Stages of a plan that computes these elements. */
  const planOf = (step: number, from: number, to: number): RowPlan =>
    ({
      compute: (_stage: number, compute: (...args: number[]) => void) => compute(step, from, to),
    }) as RowPlan;

  it("behavior: rows in any order give the tensor of every step of random programs, and touch no other rows", () => {
    const compared = new Map<Opcode, number>();
    for (let seed = 0; seed < SINGLE; seed++) {
      const rng = createRng(seed);
      const opcode = OPCODES[seed % OPCODES.length] as Opcode;
      const made = seededProgram(seed, { opcode, hostile: seed % 3 === 0 });
      const prepared = prepare(made.model, made.selector);
      const tensors = prepared.run(prepared.decode(made.calldata));
      for (const [index, step] of made.model.program.steps.entries()) {
        if (step.opcode === "codec") continue;
        const data = (tensors[index] as Tensor).data as Uint8Array;
        const bits = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        const right = bits.slice();
        const length = rowLength(step);
        const bytes = length * data.BYTES_PER_ELEMENT;
        bits.fill(0xa5);
        const expected = bits.slice();
        const rows = data.length / length;
        const places = [0, rows, ...Array.from({ length: 3 }, () => rng.int(0, rows))];
        const ends = [...new Set(places)].sort((x, y) => x - y);
        const ranges = ends.slice(1).map((end, i) => [ends[i] as number, end] as const);
        for (const [first, end] of rng.chance(0.5) ? ranges : ranges.reverse()) {
          prepared.runStage(planOf(index, first * length, end * length), 1, new Uint8Array(0));
          expected.set(right.subarray(first * bytes, end * bytes), first * bytes);
          expect(equalBytes(bits, expected), `seed ${seed}, step ${index} (${step.opcode})`).toBe(true);
        }
        if (ranges.length > 1) compared.set(step.opcode, (compared.get(step.opcode) ?? 0) + 1);
      }
    }
    for (const opcode of OPCODES)
      if (opcode !== "codec") expect(compared.get(opcode), opcode).toBeGreaterThan(20);
  });
});

const shapeOf = (rng: Rng): SequenceShape => ({
  prompt: rng.int(1, 5),
  tokens: rng.int(2, 8),
  heads: rng.int(1, 3),
  width: rng.int(1, 4),
  layers: rng.int(0, 2),
});

/** Passes until the output is right. */
function passesOf(prepared: PreparedModel, input: CodecInput, right: Uint8Array): number {
  let output: Uint8Array = new Uint8Array(right.length);
  for (let passes = 0; ; passes++) {
    if (equalBytes(output, right)) return passes;
    output = onePass(prepared, input, output);
  }
}

/** Causal programs with an input. */
function* programs(): Generator<readonly [name: string, model: Model, calldata: Uint8Array]> {
  for (let seed = 0; seed < PROGRAMS; seed++) {
    const rng = createRng(seed);
    const model = rowProgram(rng, rng.int(1, 7));
    yield [`lines ${seed}`, model, calldataOf(model, rng)];
  }
  for (let seed = 0; seed < SEQUENCES; seed++) {
    const rng = createRng(seed);
    const model = sequenceProgram(rng, shapeOf(rng));
    yield [`sequence ${seed}`, model, calldataOf(model, rng)];
  }
}

describe("findByRows", () => {
  it("behavior: of random causal programs it finds what passes find, by two runs", () => {
    let [planned, sequences] = [0, 0];
    /** by passes, how many programs */
    const grown = new Map<number, number>();
    for (const [name, model, calldata] of programs()) {
      const prepared = prepare(model, selector);
      const plan = prepared.rowPlan();
      if (plan === undefined) continue;
      planned += 1;
      const input = prepared.decode(calldata);
      const right = findByPasses(prepare(model, selector), input);
      findByRows(prepared, plan, prepared.decode(calldataOf(model, createRng(-planned))));
      expect(findByRows(prepared, plan, input), name).toEqual(right);
      // Whatever is in the memory of runs before.
      prepared.run(
        input,
        right.map((byte, i) => (i < 64 ? byte : byte ^ 0xff)),
      );
      expect(findByRows(prepared, plan, input), name).toEqual(right);
      if (name.startsWith("sequence")) sequences += 1;
      const passes = passesOf(prepared, input, right);
      grown.set(passes, (grown.get(passes) ?? 0) + 1);
    }
    expect(planned).toBeGreaterThan(PROGRAMS / 4);
    for (const passes of [2, 3, 4, 5]) expect(grown.get(passes) ?? 0, `${passes} passes`).toBeGreaterThan(0);
    const later = [...grown].filter(([passes]) => passes > 3);
    expect(later.reduce((all, [, count]) => all + count, 0)).toBeGreaterThan(10);
    expect(sequences).toBe(SEQUENCES);
  });

  it("behavior: no plan for a mask that leaks, an output of one row, or without claimed steps", () => {
    const rng = createRng(1);
    const shape = { prompt: 3, tokens: 4, heads: 2, width: 2, layers: 1 };
    expect(prepare(sequenceProgram(rng, shape), selector).rowPlan()).toBeDefined();
    expect(prepare(sequenceProgram(rng, shape, 4), selector).rowPlan()).toBeUndefined();
    const one = prepare(sequenceProgram(rng, { ...shape, tokens: 1 }), selector);
    expect(one.rowPlan()).toBeUndefined();
    const calldata = calldataOf(one.model, rng);
    expect(execute(one, calldata)).toEqual(findByPasses(one, one.decode(calldata)));
    const { model } = seededProgram(1, {});
    expect(prepare(model, selector).rowPlan()).toBeUndefined();
  });
});

describe("execute", () => {
  const faults: readonly (readonly [string, (stage: RowPlan["compute"]) => RowPlan["compute"]])[] = [
    [
      "a stage that is left out",
      (right) =>
        (stage, ...rest) =>
          stage === 2 ? undefined : right(stage, ...rest),
    ],
    [
      "the stage before",
      (right) =>
        (stage, ...rest) =>
          right(stage - 1, ...rest),
    ],
  ];

  it.each(faults)("behavior: a plan with a fault costs passes, never a wrong output: %s", (_, fault) => {
    let found = 0;
    for (const tokens of [2, 3, 5, 9]) {
      const model = running(tokens);
      const calldata = calldataOf(model, createRng(tokens));
      const prepared = prepare(model, selector);
      const plan = prepared.rowPlan() as RowPlan;
      const input = prepared.decode(calldata);
      const right = findByPasses(prepared, input);
      plan.compute = fault(plan.compute.bind(plan));
      found += Number(findByRows(prepared, plan, input).some((byte, i) => byte !== right[i]));
      expect(execute(prepared, calldata)).toEqual(right);
    }
    expect(found).toBeGreaterThan(1);
  });
});
