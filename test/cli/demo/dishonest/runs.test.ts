import { describe, expect, test } from "vitest";
import { fromHex } from "../../../../base/bytes.ts";
import { type FaultKind, falsify } from "../../../../cli/demo/dishonest/faults.ts";
import { dishonestRuns } from "../../../../cli/demo/dishonest/runs.ts";
import { demandPath } from "../../../../inference/commit/positions.ts";
import { foldReveal, revealAt, traceShapes } from "../../../../inference/commit/reveal.ts";
import { prepare } from "../../../../inference/executor/prepare.ts";
import { serveModels } from "../../../../prover/models.ts";
import { forecastInput, loadForecast } from "../../../support/forecast.ts";

const loaded = loadForecast();
const prepared = prepare(loaded.model, loaded.selector);
const { steps } = prepared.program;
const calldata = fromHex(forecastInput(loaded, 1));
const last = steps.findLastIndex(({ opcode }) => opcode !== "codec");
const [model] = serveModels([loaded]).values();
if (model === undefined) throw new Error("no model");
const shapes = traceShapes(prepared.program);
const position = demandPath(shapes, last, 0)[0];
if (position === undefined) throw new Error("no position");

const { signal } = new AbortController();
const output = new Uint8Array(model.outputLength);
const runsOf = (kind: FaultKind, step?: number) =>
  dishonestRuns(step === undefined ? { kind } : { kind, step });

describe("dishonestRuns", () => {
  test("default: claims and defends the same run", async () => {
    const run = falsify(prepared, calldata, { kind: "element", step: last });
    const runs = runsOf("element", last);
    expect(await runs.output(model, calldata, signal)).toEqual(run.output);
    expect((await runs.trace(model, calldata, signal, output)).root).toEqual(run.trace.root);
  });

  test.each<[FaultKind, number?]>([["element", last], ["output"]])(
    "behavior: %s opens what it committed to",
    async (kind, step) => {
      const runs = runsOf(kind, step);
      const trace = await runs.trace(model, calldata, signal, output);
      expect(runs.reveal(trace, position)).toEqual(revealAt(trace, position));
    },
  );

  test("behavior: stall claims, and commits to no trace", async () => {
    const runs = runsOf("stall");
    expect(await runs.output(model, calldata, signal)).toHaveLength(model.outputLength);
    await expect(runs.trace(model, calldata, signal, output)).rejects.toThrow(
      "this prover commits to no trace",
    );
  });

  test("behavior: stall-reveal commits to a trace, and reveals nothing of it", async () => {
    const runs = runsOf("stall-reveal");
    const trace = await runs.trace(model, calldata, signal, output);
    expect(() => runs.reveal(trace, position)).toThrow("this prover reveals nothing");
  });

  test("behavior: what garbage-reveal opens is not what it committed to", async () => {
    const runs = runsOf("garbage-reveal");
    const trace = await runs.trace(model, calldata, signal, output);
    expect(foldReveal(shapes, position, revealAt(trace, position))).toEqual(trace.root);
    expect(() => foldReveal(shapes, position, runs.reveal(trace, position))).toThrow(
      expect.objectContaining({ code: "REVEAL_NOT_CANONICAL" }),
    );
  });
});
