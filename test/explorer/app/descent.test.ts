import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { randomProgram } from "../../../conformance/generate/random-program.ts";
import { createRng } from "../../../conformance/generate/rng.ts";
import { descent, type Shown } from "../../../explorer/app/verify/descent.ts";
import { numberOf } from "../../../explorer/app/verify/values.ts";
import { demandPath, TRACE_STEP } from "../../../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../../../inference/commit/reveal.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import {
  elementBytes,
  elementCount,
  lastDim,
  type Step,
  type Tensor,
} from "../../../inference/program/form.ts";
import { ceilLog2, locate } from "../../../inference/program/shape.ts";
import { storedElement } from "../../../inference/program/tensor.ts";
import { selfTestCalldata } from "../../../inference/self-test.ts";
import { projectRoot } from "../../../tools/foundry.ts";
import { type HonestRun, honestRun, present } from "../../support/lies.ts";
import { scaled } from "../../support/scale.ts";

/** A step of models/sentiment whose tensor is a tree of 9 levels. */
const LARGE = 1;
const GAMES = scaled(60, 600, 6_000);

/** A trace with one wrong byte, opened down to it as challengers do. */
function game(seed: number) {
  const rng = createRng(seed);
  const run = honestRun(randomProgram(rng, { steps: rng.int(0, 6) }));
  const { program } = run.prepared;
  const step = rng.int(0, program.steps.length - 1);
  return lieAt(run, step, rng.int(0, elementCount((program.steps[step] as Step).dims) - 1));
}

/** The same of one element of a run. */
function lieAt(run: HonestRun, step: number, element: number) {
  const { program } = run.prepared;
  const record = program.steps[step] as Step;
  const byte = element * elementBytes(record.type);
  const lie = { bytes: [{ step, at: byte, flip: 1 }], follows: false, output: "own" } as const;
  const claimed = present(run, lie);
  const { row, word } = locate(record.type, record.dims, element);
  const shape = traceShapes(program)[step] as ReturnType<typeof traceShapes>[number];
  const leaf = row * 2 ** ceilLog2(shape.words) + word;
  const openings = demandPath(traceShapes(program), step, leaf).map((position) => ({
    ...position,
    step: position.step === TRACE_STEP ? -1 : position.step,
    content: revealAt(claimed.trace, position).content.map(toHex),
  }));
  const shown: Shown = { tops: topsOf(claimed.trace).map(toHex), openings };
  return { run, program, step, record, element, shown };
}

describe("descent", () => {
  it("default: every floor has the one node on the way to a wrong byte, and the last one the element", () => {
    for (let seed = 0; seed < GAMES; seed++) {
      const { run, program, step, record, element, shown } = game(seed);
      const floors = descent({ program, tensors: run.tensors, trace: run.trace }, shown);
      expect(floors).toHaveLength(1 + shown.openings.length);
      for (const { cells } of floors) {
        expect(cells.filter(({ state }) => state === "different")).toHaveLength(1);
      }
      const honest = storedElement((run.tensors[step] as Tensor).data, element);
      const [parting] = floors.at(-1)?.partings ?? [];
      expect(parting?.element, `seed ${seed}: ${record.type}[${record.dims}]`).toBe(element);
      expect(parting?.honest).toBe(numberOf(record.type, honest));
      expect(parting?.claimed).not.toBe(parting?.honest);
      expect(element % lastDim(record.dims)).toBeLessThan(lastDim(record.dims));
    }
  });

  it("args: in a tensor of several levels each floor begins where its node does", () => {
    const { model, selector } = loadModelFolder(join(projectRoot, "models/sentiment"));
    const run = honestRun({ model, selector, calldata: selfTestCalldata(model.program, selector, 2) });
    const record = model.program.steps[LARGE] as Step;
    for (let element = 0; element < elementCount(record.dims); element += 97) {
      const { program, shown } = lieAt(run, LARGE, element);
      const floors = descent({ program, tensors: run.tensors, trace: run.trace }, shown);
      expect(floors.map(({ kind }) => kind)).toEqual(["roots", "nodes", "words"]);
      for (const { cells } of floors) {
        expect(cells.filter(({ state }) => state === "different")).toHaveLength(1);
      }
      expect(floors.at(-1)?.partings.map((parting) => parting.element)).toEqual([element]);
    }
  });

  it("behavior: an honest trace has no floor that differs", () => {
    for (let seed = 0; seed < GAMES; seed++) {
      const { run, program } = game(seed);
      const shown: Shown = { tops: topsOf(run.trace).map(toHex), openings: [] };
      const floors = descent({ program, tensors: run.tensors, trace: run.trace }, shown);
      expect(floors.flatMap(({ cells }) => cells).some(({ state }) => state === "different")).toBe(false);
    }
  });

  it("args: nothing was committed, and a demand that waits for its answer, make no floor", () => {
    const { run, program, shown } = game(1);
    const own = { program, tensors: run.tensors, trace: run.trace };
    expect(descent(own, { tops: [], openings: [] })).toEqual([]);
    const waiting = shown.openings.map(({ content: _, ...position }) => position);
    expect(descent(own, { tops: shown.tops, openings: waiting })).toHaveLength(1);
  });
});
