import { describe, expect, it } from "vitest";
import { ClaimedTrace } from "../../challenger/claimed-trace.ts";
import { interrogate, type OwnTrace, type Question } from "../../challenger/interrogate.ts";
import { type DishonestRun, falsify, parseFault } from "../../cli/demo/dishonest/faults.ts";
import { judge } from "../../conformance/reference/judge.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { commitTrace, commitWeights, tensorOf } from "../../inference/commit/commitments.ts";
import { revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { execute, trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { running } from "../support/claimed-models.ts";
import { createRng } from "../support/rng.ts";

const TOKENS = 9;
const model = running(TOKENS);
const prepared = prepare(model, Uint8Array.of(1, 2, 3, 4));
const LAST = model.program.steps.length - 1;
const rng = createRng(3);
const bytes = Uint8Array.from({ length: TOKENS }, () => rng.int(0, 255));
const calldata = encodeInput(model.program, prepared.selector, { codec: "raw", bytes });
const right = execute(prepared, calldata);

/** A challenger's run of what is claimed. */
function ownOf(output: Uint8Array): OwnTrace {
  const tensors = trace(prepared, calldata, output);
  const { program } = model;
  const weights = commitWeights(model);
  return {
    ...{ program, tensors, trace: commitTrace(program, tensors), weights },
    constant: (operand) => prepared.constant(operand),
  };
}

/** What convicts the run; every demand is answered from its trace. */
function conviction({ output, trace: committed }: DishonestRun): Question {
  const own = ownOf(output);
  const claimed = new ClaimedTrace(traceShapes(model.program), topsOf(committed));
  for (;;) {
    const question = interrogate(own, claimed, output);
    if (question.kind !== "demand") return question;
    claimed.addReveal(question.position, revealAt(committed, question.position).content);
  }
}

const committedTo = (output: Uint8Array) => ownOf(output).trace;
const wrongAt = (token: number): Uint8Array =>
  right.map((byte, i) => (i === 64 + token ? byte ^ 0x10 : byte));

describe("interrogate, of a program that reads the claimed output", () => {
  it("behavior: a wrong output with its honest trace is convicted at its first wrong row", () => {
    for (let token = 0; token < TOKENS; token++) {
      const output = wrongAt(token);
      const question = conviction({ output, trace: committedTo(output) });
      expect(question).toMatchObject({ kind: "output", element: token, output });
    }
  });

  it("behavior: a wrong output with the right one's trace is convicted by the bytes that are claimed", () => {
    const output = wrongAt(4);
    expect(conviction({ output, trace: committedTo(right) })).toMatchObject({
      ...{ kind: "codec", step: 1, of: "output" },
    });
  });

  it("behavior: wrong bytes around the elements are convicted by the output alone", () => {
    for (const at of [0, 31, 40, right.length - 1]) {
      const output = right.map((byte, i) => (i === at ? byte ^ 1 : byte));
      expect(conviction({ output, trace: committedTo(output) })).toMatchObject({
        ...{ kind: "output", openings: [] },
      });
    }
  });

  it.each([
    ["element:2", { kind: "element", step: 2 }],
    ["element:3", { kind: "element", step: 3 }],
    ["element:4", { kind: "element", step: 4 }],
    ["codec:0", { kind: "codec", step: 0, of: "input" }],
    ["input:0", { kind: "codec", step: 0, of: "input" }],
    ["codec:1", { kind: "codec", step: 1, of: "output" }],
    ["output", { kind: "output", element: TOKENS - 1 }],
  ])("behavior: a run with the fault %s that fits its own output is convicted there", (fault, expected) => {
    const run = falsify(prepared, calldata, parseFault(fault));
    expect(run.output).not.toEqual(right);
    const question = conviction(run);
    expect(question).toMatchObject(expected);
    if (question.kind !== "element") return;
    const { step, element, openings } = question;
    const stored = tensorOf(model.program, ownOf(run.output).trace, step).data[element];
    expect(Number(BigInt.asIntN(32, judge(model.program, step, element, openings)))).toBe(stored);
  });

  it("behavior: the right output, and it alone, has nothing to convict", () => {
    expect(() => conviction({ output: right, trace: committedTo(right) })).toThrow(
      expect.objectContaining({ code: "CLAIM_RIGHT" }),
    );
    for (let i = 0; i < 300; i++) {
      const output = right.slice();
      for (let token = rng.int(0, TOKENS - 1); token < TOKENS; token++) output[64 + token] = rng.int(0, 255);
      const given = encodeOutput(model.program, tensorOf(model.program, ownOf(output).trace, LAST));
      expect(given.every((byte, at) => byte === output[at])).toBe(
        output.every((byte, at) => byte === right[at]),
      );
    }
  });
});
