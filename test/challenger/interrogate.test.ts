import { describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { ClaimedTrace } from "../../challenger/claimed-trace.ts";
import { interrogate, type OwnTrace, type Question } from "../../challenger/interrogate.ts";
import { type DishonestRun, falsify, parseFault } from "../../cli/demo/dishonest/faults.ts";
import { randomProgram } from "../../conformance/generate/random-program.ts";
import { judge } from "../../conformance/reference/judge.ts";
import { decodeOutput, encodeOutput, outputElement } from "../../inference/codecs/output.ts";
import { commitTrace, commitWeights, tensorOf } from "../../inference/commit/commitments.ts";
import { foldOpening, outputRead, readsOf } from "../../inference/commit/openings.ts";
import { isInside } from "../../inference/commit/positions.ts";
import { foldReveal, revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { foldPath } from "../../inference/commit/tree.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { isStep, isWeight, type Step, type Tensor, type TensorData } from "../../inference/program/form.ts";
import { demandDepth, locate } from "../../inference/program/shape.ts";
import { createRng } from "../support/rng.ts";

const dataOfRun =
  ({ program, trace: made, constant }: OwnTrace) =>
  (operand: number): TensorData =>
    isStep(operand) ? tensorOf(program, made, operand).data : constant(operand);
const lastOf = ({ program, trace: made }: OwnTrace): Tensor =>
  tensorOf(program, made, program.steps.length - 1);

interface Case {
  readonly own: OwnTrace;
  readonly cheat: DishonestRun;
}

/** A random program, its honest run and a cheat's run of the same input, or undefined where that cannot be made. */
function randomCase(
  seed: number,
  fault: (steps: readonly Step[]) => string,
  steps?: number,
): Case | undefined {
  const rng = createRng(seed);
  const { model, selector, calldata } = randomProgram(rng, {
    hostile: rng.chance(0.3),
    ...(steps && { steps }),
  });
  const prepared = prepare(model, selector);
  const tensors = trace(prepared, calldata);
  const { program } = model;
  let cheat: DishonestRun;
  try {
    cheat = falsify(prepared, calldata, parseFault(fault(program.steps)));
  } catch (error) {
    if ((error as { code?: string }).code === "FAULT_IMPOSSIBLE") return undefined;
    throw error;
  }
  const own: OwnTrace = {
    program,
    trace: commitTrace(program, tensors),
    weights: commitWeights(model),
    constant: (operand) => prepared.constant(operand),
  };
  return { own, cheat };
}

/** Asks until there is a conviction; the cheat answers every demand honestly from its wrong trace. */
function play({ own, cheat }: Case): { question: Question; demands: number } {
  const shapes = traceShapes(own.program);
  const claimed = new ClaimedTrace(shapes, topsOf(cheat.trace));
  for (let demands = 0; ; demands++) {
    const question = interrogate(own, claimed, cheat.output);
    if (question.kind !== "demand") return { question, demands };
    const { position } = question;
    expect(isInside(shapes, position)).toBe(true);
    expect(claimed.children(position)).toBeUndefined();
    const reveal = revealAt(cheat.trace, position);
    expect(toHex(foldReveal(shapes, position, reveal))).toBe(toHex(cheat.trace.root));
    claimed.addReveal(position, reveal.content);
  }
}

describe("interrogate", () => {
  it("behavior: convicts one wrong element of any step by openings that fold, within d demands", () => {
    const opcodes = new Map<string, number>();
    for (let seed = 0; seed < 400; seed++) {
      const game = randomCase(seed, (steps) => {
        const wanted = seed % steps.length;
        return `${(steps[wanted] as Step).opcode === "codec" ? "codec" : "element"}:${wanted}`;
      });
      if (game === undefined) continue;
      const { own, cheat } = game;
      const { question, demands } = play(game);
      expect(demands).toBeLessThanOrEqual(demandDepth(own.program));
      if (question.kind === "codec") {
        expect(toHex(foldPath(question.root, question.step, question.path))).toBe(toHex(cheat.trace.root));
        opcodes.set("codec", (opcodes.get("codec") ?? 0) + 1);
        continue;
      }
      if (question.kind !== "element") throw new Error(`seed ${seed} ended in ${question.kind}`);
      const { step, element, openings } = question;
      const dataOf = dataOfRun(own);
      const reads = [outputRead(own.program, step, element), ...readsOf(own.program, step, element, dataOf)];
      expect(openings).toHaveLength(reads.length);
      for (const [i, read] of reads.entries()) {
        const root = isWeight(read.operand) ? own.weights.root : cheat.trace.root;
        const opening = openings[i];
        if (opening === undefined) throw new Error("an opening is missing");
        expect(toHex(foldOpening(own.program, read, opening))).toBe(toHex(root));
      }
      const record = own.program.steps[step] as Step;
      const { byte } = locate(record.type, record.dims, element);
      const size = record.type === "s32" || record.type === "f32" ? 4 : 1;
      const claimed = BigInt(toHex(openings[0]?.words[0]?.slice(byte, byte + size) ?? new Uint8Array()));
      expect(judge(own.program, step, element, openings)).not.toBe(claimed);
      opcodes.set(record.opcode, (opcodes.get(record.opcode) ?? 0) + 1);
    }
    // Every opcode was convicted, or this test saw less than it says.
    expect([...opcodes.keys()].sort()).toMatchInlineSnapshot(`
      [
        "arith",
        "codec",
        "dot",
        "float",
        "lookup",
        "move",
        "reduce",
        "requant",
        "rescale",
        "select",
        "table",
      ]
    `);
  });

  it("behavior: opens agreed groups of a trace of more than 64 steps from the challenger's run", () => {
    let convicted = 0;
    for (let seed = 0; seed < 6; seed++) {
      const game = randomCase(seed, (steps) => `element:${steps.length - 1}`, 90);
      if (game === undefined) continue;
      const { question, demands } = play(game);
      expect(game.own.program.steps.length).toBeGreaterThan(64);
      expect(demands).toBeLessThanOrEqual(demandDepth(game.own.program));
      if (question.kind !== "element") continue;
      const { step, element, openings } = question;
      const dataOf = dataOfRun(game.own);
      const reads = readsOf(game.own.program, step, element, dataOf);
      for (const [i, read] of reads.entries()) {
        const opening = openings[i + 1];
        if (opening === undefined) throw new Error("an opening is missing");
        const root = isWeight(read.operand) ? game.own.weights.root : game.cheat.trace.root;
        expect(toHex(foldOpening(game.own.program, read, opening))).toBe(toHex(root));
      }
      convicted++;
    }
    expect(convicted).toBeGreaterThan(0);
  });

  it("behavior: shows one element, or the form, when the trace is honest and the output is not", () => {
    const shown = { form: 0, element: 0 };
    for (let seed = 0; seed < 60; seed++) {
      const rng = createRng(seed);
      const game = randomCase(seed, () => "output");
      if (game === undefined) throw new Error("a wrong output can always be made");
      const { program, trace: own } = game.own;
      // Any byte of it.
      const output = encodeOutput(program, lastOf(game.own));
      const place = rng.int(0, output.length - 1);
      output[place] = (output[place] as number) ^ rng.int(1, 255);
      const { question, demands } = play({ ...game, cheat: { ...game.cheat, output } });
      if (question.kind !== "output") throw new Error(`seed ${seed} ended in ${question.kind}`);
      expect(demands).toBe(0);
      expect(question.output).toBe(output);
      const [opening, ...others] = question.openings;
      expect(others).toEqual([]);
      shown[opening === undefined ? "form" : "element"]++;
      if (opening === undefined) {
        expect(() => decodeOutput(program, output)).toThrow();
        continue;
      }
      const read = outputRead(program, program.steps.length - 1, question.element);
      expect(toHex(foldOpening(program, read, opening))).toBe(toHex(own.root));
      const right = encodeOutput(program, lastOf(game.own));
      expect(outputElement(program, output, question.element)).not.toEqual(
        outputElement(program, right, question.element),
      );
    }
    expect(Math.min(shown.form, shown.element)).toBeGreaterThan(10);
  });

  it("error: a claim that is right in trace and output", () => {
    const game = randomCase(1, () => "output");
    if (game === undefined) throw new Error("a wrong output can always be made");
    const output = encodeOutput(game.own.program, lastOf(game.own));
    expect(() => play({ ...game, cheat: { ...game.cheat, output } })).toThrow("nothing to convict");
  });

  it("behavior: garbage in padding ends in a demand that nobody can answer", () => {
    let ended = 0;
    for (let seed = 0; seed < 60; seed++) {
      const game = randomCase(seed, (steps) => `padding:${seed % steps.length}`);
      if (game === undefined) continue;
      if ((game.own.program.steps[seed % game.own.program.steps.length] as Step).opcode === "codec") continue;
      const shapes = traceShapes(game.own.program);
      const claimed = new ClaimedTrace(shapes, topsOf(game.cheat.trace));
      expect(() => {
        for (;;) {
          const question = interrogate(game.own, claimed, game.cheat.output);
          if (question.kind !== "demand") return;
          const reveal = revealAt(game.cheat.trace, question.position);
          foldReveal(shapes, question.position, reveal);
          claimed.addReveal(question.position, reveal.content);
        }
      }).toThrow("padding");
      ended++;
    }
    expect(ended).toBeGreaterThan(10);
  });
});
