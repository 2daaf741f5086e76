import { describe, expect, test } from "vitest";
import { equalBytes, fromHex } from "../../../../base/bytes.ts";
import { FAULTS, type FaultKind, falsify, parseFault } from "../../../../cli/demo/dishonest/faults.ts";
import { encodeOutput } from "../../../../inference/codecs/output.ts";
import { type Commitment, commitTrace } from "../../../../inference/commit/commitments.ts";
import { demandPath } from "../../../../inference/commit/positions.ts";
import { foldReveal, revealAt, traceShapes } from "../../../../inference/commit/reveal.ts";
import { execute, trace } from "../../../../inference/executor/execute.ts";
import { prepare } from "../../../../inference/executor/prepare.ts";
import type { Tensor } from "../../../../inference/program/form.ts";
import { forecastInput, loadForecast } from "../../../support/forecast.ts";

const loaded = loadForecast();
const prepared = prepare(loaded.model, loaded.selector);
const { steps } = prepared.program;
const calldata = fromHex(forecastInput(loaded, 1));
const honest = commitTrace(prepared.program, trace(prepared, calldata));
const output = execute(prepared, calldata);
const stepsThat = (test: (opcode: string) => boolean) =>
  steps.map((_, i) => i).filter((i) => test(steps[i]?.opcode ?? ""));
const codecs = stepsThat((opcode) => opcode === "codec");
const others = stepsThat((opcode) => opcode !== "codec");

/** Steps whose tensors differ from the honest ones. */
const different = (claimed: Commitment): number[] =>
  claimed.tensors.flatMap(({ root }, i) =>
    equalBytes(root, honest.tensors[i]?.root ?? new Uint8Array(0)) ? [] : [i],
  );

describe("parseFault", () => {
  test("default: every kind in its form", () => {
    for (const [kind, { takesStep }] of Object.entries(FAULTS)) {
      const expected = takesStep ? { kind, step: 7 } : { kind };
      expect(parseFault(takesStep ? `${kind}:7` : kind)).toEqual(expected);
    }
  });

  test.each([
    "",
    "elements:1",
    "element",
    "element:",
    "element:-1",
    "element:1:2",
    "output:1",
    "stall:",
    "toString",
  ])("error: %j", (text) => {
    expect(() => parseFault(text)).toThrow(expect.objectContaining({ code: "FAULT_IMPOSSIBLE" }));
  });
});

describe("falsify", () => {
  test("behavior: element makes one step wrong and is consistent afterwards, at every step that can", () => {
    let made = 0;
    for (const step of others) {
      let run: ReturnType<typeof falsify>;
      try {
        run = falsify(prepared, calldata, { kind: "element", step });
      } catch (error) {
        expect(error).toMatchObject({ code: "FAULT_IMPOSSIBLE" });
        continue;
      }
      made += 1;
      expect(different(run.trace)[0]).toBe(step);
      expect(equalBytes(run.output, output)).toBe(false);
      expect(different(run.trace)).toContain(steps.length - 1);
    }
    expect(made).toBeGreaterThan(others.length / 2);
  });

  test("behavior: element differs in exactly one element of its step", () => {
    const step = others.at(-1) as number;
    const { output: claimed } = falsify(prepared, calldata, { kind: "element", step });
    const last = trace(prepared, calldata).at(-1) as Tensor;
    expect(equalBytes(encodeOutput(prepared.program, last), output)).toBe(true);
    const words = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex").match(/.{64}/g) ?? [];
    const [right, wrong] = [words(output), words(claimed)];
    expect(right.filter((word, i) => word !== wrong[i])).toHaveLength(1);
  });

  test.each(["input", "codec"] as const)("behavior: %s makes a codec step wrong, and the output", (kind) => {
    for (const step of codecs) {
      const run = falsify(prepared, calldata, { kind, step });
      expect(different(run.trace)[0]).toBe(step);
      expect(equalBytes(run.output, output)).toBe(false);
    }
  });

  test.each(["output", "stall"] as const)("behavior: %s has an honest trace and a wrong output", (kind) => {
    const run = falsify(prepared, calldata, { kind });
    expect(different(run.trace)).toEqual([]);
    expect(run.output).toHaveLength(output.length);
    expect(equalBytes(run.output, output)).toBe(false);
  });

  test.each(["stall-reveal", "garbage-reveal"] as const)("behavior: %s has a wrong trace", (kind) => {
    expect(different(falsify(prepared, calldata, { kind }).trace)).not.toEqual([]);
  });

  test("behavior: padding differs only where nothing can be revealed", () => {
    const shapes = traceShapes(prepared.program);
    const step = others.find((i) => (shapes[i]?.rowBytes ?? 0) % 32 !== 0) as number;
    const run = falsify(prepared, calldata, { kind: "padding", step });
    expect(different(run.trace)).toEqual([step]);
    const [position] = demandPath(shapes, step, 0);
    if (position === undefined) throw new Error("no position");
    const reveal = revealAt(run.trace, position);
    expect(() => foldReveal(shapes, position, reveal)).toThrow(
      expect.objectContaining({ code: "REVEAL_NOT_CANONICAL" }),
    );
    expect(foldReveal(shapes, position, revealAt(honest, position))).toEqual(honest.root);
  });

  test("behavior: the same fault on the same input is the same run", () => {
    for (const kind of ["element", "output"] as const) {
      const fault = kind === "element" ? { kind, step: others.at(-1) as number } : { kind };
      const [a, b] = [falsify(prepared, calldata, fault), falsify(prepared, calldata, fault)];
      expect([b.output, b.trace.root]).toEqual([a.output, a.trace.root]);
    }
  });

  test.each<[FaultKind, number]>([
    ["element", codecs[0] as number],
    ["codec", others[0] as number],
    ["input", others[0] as number],
    ["element", steps.length],
  ])("error: %s at step %d", (kind, step) => {
    expect(() => falsify(prepared, calldata, { kind, step })).toThrow(
      expect.objectContaining({ code: "FAULT_IMPOSSIBLE" }),
    );
  });
});
