import { syncBuiltinESMExports } from "node:module";
import { availableParallelism } from "node:os";
import { setImmediate as nextTurn, setTimeout } from "node:timers/promises";
import threads from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { type Commitment, commitTrace, tensorOf } from "../../../inference/commit/commitments.ts";
import { demandPath } from "../../../inference/commit/positions.ts";
import { revealAt, traceShapes } from "../../../inference/commit/reveal.ts";
import { execute, trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { Program } from "../../../inference/program/form.ts";
import type { CanonicalModel } from "../../../inference/runtime/canonical-messages.ts";
import { CanonicalPool, type CanonicalPoolOptions } from "../../../inference/runtime/canonical-pool.ts";
import { paysForTwo } from "../../../inference/runtime/two-threads.ts";
import { running } from "../../support/claimed-models.ts";
import { measuredOn } from "../../support/derivation.ts";
import { derivedLlama, promptInput } from "../../support/derived-llama.ts";
import { heavyModel, wideModel } from "../../support/heavy-model.ts";
import { createRng } from "../../support/rng.ts";
import { smallLlama } from "../../support/small-llama.ts";

const pools: CanonicalPool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.close();
});

function open(models: ReadonlyMap<string, CanonicalModel>, options?: CanonicalPoolOptions): CanonicalPool {
  const pool = new CanonicalPool(models, options);
  pools.push(pool);
  return pool;
}

const tensorsOf = (program: Program, made: Commitment) =>
  program.steps.map((_, step) => tensorOf(program, made, step));

const seeds = Array.from({ length: 40 }, (_, seed) => seededProgram(seed, { hostile: seed % 3 === 0 }));
const seeded = new Map(seeds.map(({ model, selector }, seed) => [`${seed}`, { model, selector }]));

describe("CanonicalPool", () => {
  test.each([
    ["in memory", {}],
    ["in a file", { traceInMemory: 0 }],
  ])("default: outputs, tensors and every opening are the executor's own, %s", async (_, options) => {
    const pool = open(seeded, options);
    await Promise.all(
      seeds.map(async ({ model, selector, calldata }, seed) => {
        const prepared = prepare(model, selector);
        const [output, check, made] = await Promise.all([
          pool.output(`${seed}`, calldata),
          pool.check(`${seed}`, calldata, new Uint8Array(seed % 2)),
          pool.trace(`${seed}`, calldata),
        ]);
        expect(output).toEqual(execute(prepared, calldata));
        expect(check).toEqual({ isRight: false, output });
        const tensors = trace(prepared, calldata);
        expect(tensorsOf(model.program, made)).toEqual(tensors);
        const right = commitTrace(model.program, tensors);
        expect(made.root).toEqual(right.root);
        const shapes = traceShapes(model.program);
        for (const step of shapes.keys()) {
          for (const position of demandPath(shapes, step, 0)) {
            expect(revealAt(made, position)).toEqual(revealAt(right, position));
          }
        }
      }),
    );
  });

  test("args: claimed, the output that a program reads", async () => {
    const model = running(5);
    const selector = Uint8Array.of(1, 2, 3, 4);
    const pool = open(new Map([["running", { model, selector }]]));
    const prepared = prepare(model, selector);
    const bytes = Uint8Array.of(5, 4, 3, 2, 1);
    const calldata = encodeInput(model.program, selector, { codec: "raw", bytes });
    const claimed = (await pool.output("running", calldata)).map((byte) => byte ^ 1);
    const [right, made] = await Promise.all([
      pool.trace("running", calldata),
      pool.trace("running", calldata, { claimed }),
    ]);
    expect(tensorsOf(model.program, right)).toEqual(trace(prepared, calldata));
    expect(tensorsOf(model.program, made)).toEqual(trace(prepared, calldata, claimed));
    expect(made.root).not.toEqual(right.root);
    const output = execute(prepared, calldata);
    expect(await pool.check("running", calldata, claimed)).toEqual({ isRight: false });
    expect(await pool.check("running", calldata, output)).toEqual({ isRight: true, output });
  });

  test("error: calldata that no request can hold has the executor's error", async () => {
    const pool = open(seeded);
    const [{ model, selector }] = seeds as [(typeof seeds)[number]];
    const direct = () => execute(prepare(model, selector), new Uint8Array(3));
    let expected: unknown;
    try {
      direct();
    } catch (error) {
      expected = error;
    }
    const { code, shortMessage, nextStep, details } = expected as Record<string, unknown>;
    await expect(pool.output("0", new Uint8Array(3))).rejects.toMatchObject({
      code,
      shortMessage,
      nextStep,
      details,
    });
    await expect(pool.output("none", new Uint8Array(3))).rejects.toThrow("model none is not loaded");
  });

  test("behavior: who leaves is told at once; the thread is ended, and the next run has another", async () => {
    const heavy = heavyModel();
    const pool = open(new Map([["heavy", heavy]]), { threads: 1, stopAfterMs: 0 });
    const leaving = new AbortController();
    const running = pool.trace("heavy", heavy.calldata, { signal: leaving.signal });
    const waiting = pool.output("heavy", heavy.calldata, { signal: leaving.signal });
    const refused = [running, waiting].map((run) => expect(run).rejects.toBe("nobody waits"));
    await nextTurn();
    leaving.abort("nobody waits");
    await Promise.all(refused);
    const right = execute(prepare(heavy.model, heavy.selector), heavy.calldata);
    expect(await pool.output("heavy", heavy.calldata)).toEqual(right);
    await expect(pool.output("heavy", heavy.calldata, { signal: leaving.signal })).rejects.toBe(
      "nobody waits",
    );
  });

  test.each([
    ["in memory", {}],
    ["in a file", { traceInMemory: 0 }],
  ])("behavior: a large model, of which a second thread takes parts, trace %s", async (_, options) => {
    const { model, selector, calldata } = wideModel();
    expect(paysForTwo(model.program)).toBe(availableParallelism() > 1);
    const pool = open(new Map([["wide", { model, selector }]]), options);
    const prepared = prepare(model, selector);
    const right = execute(prepared, calldata);
    const { root } = commitTrace(model.program, trace(prepared, calldata));
    for (let round = 0; round < 2; round++) {
      expect(await pool.output("wide", calldata)).toEqual(right);
      expect((await pool.trace("wide", calldata)).root).toEqual(root);
      // The second thread is ready within this time, at the latest.
      await setTimeout(round === 0 ? 2_000 : 0);
    }
    const both = [pool.output("wide", calldata), pool.check("wide", calldata, right)];
    expect(await Promise.all(both)).toEqual([right, { isRight: true, output: right }]);
  });

  test("behavior: what a thread makes ready for a language model outlasts who waits for it", async () => {
    const selector = Uint8Array.of(1, 2, 3, 4);
    const llama = smallLlama(createRng(5), { layers: 1 });
    const lengths = { prompt: 4, answer: 3 };
    const run = derivedLlama(llama, measuredOn(llama, lengths), lengths);
    const { model } = run.derived;
    const pool = open(new Map([["llama", { model, selector }]]), { threads: 1, stopAfterMs: 5 });
    // Time passes where the test says so.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let threads = 0;
    const count = () => {
      threads += 1;
    };
    process.on("worker", count);
    try {
      const calldata = encodeInput(model.program, selector, promptInput(run, [1, 2, 3, 4]));
      const right = execute(prepare(model, selector), calldata);
      // First for a check alone, then for an output, which takes a plan.
      const asks = [
        (signal: AbortSignal) => pool.check("llama", calldata, right, { signal }),
        (signal: AbortSignal) => pool.output("llama", calldata, { signal }),
      ];
      for (const ask of asks) {
        const leaving = new AbortController();
        const refused = expect(ask(leaving.signal)).rejects.toBe("nobody waits");
        await nextTurn();
        leaving.abort("nobody waits");
        await refused;
        vi.advanceTimersByTime(60_000);
      }
      expect(await pool.check("llama", calldata, right)).toEqual({ isRight: true, output: right });
      expect(await pool.output("llama", calldata)).toEqual(right);
      expect(threads).toBe(1);
    } finally {
      process.off("worker", count);
      vi.useRealTimers();
    }
  });

  test("behavior: what is owed goes first, and callers never take the last thread", async () => {
    const heavy = heavyModel();
    const pool = open(new Map([["heavy", heavy], ...seeded]), { threads: 2 });
    const order: string[] = [];
    const note = (name: string, run: Promise<unknown>) => run.then(() => order.push(name));
    const { calldata } = seeds[0] as (typeof seeds)[number];
    // Two callers' runs: one takes a thread, the other waits for it, though a second thread is free.
    const callers = [0, 1].map((i) =>
      note(`caller ${i}`, pool.trace("heavy", heavy.calldata, { urgency: "caller" })),
    );
    await nextTurn();
    // Both want the other thread.
    const own = note("own", pool.output("0", calldata));
    const owed = note(
      "owed",
      pool.trace("1", (seeds[1] as (typeof seeds)[number]).calldata, { urgency: "owed" }),
    );
    await Promise.all([...callers, own, owed]);
    const placeOf = (name: string) => order.indexOf(name);
    expect(placeOf("owed")).toBeLessThan(placeOf("own"));
    expect(placeOf("caller 0")).toBeLessThan(placeOf("caller 1"));
    expect(placeOf("own")).toBeLessThan(placeOf("caller 1"));
  });

  test("behavior: short runs travel together, and each has its own end", async () => {
    const pool = open(seeded, { threads: 1 });
    // How long they take is known then.
    for (const [seed, { calldata }] of seeds.entries()) await pool.output(`${seed}`, calldata);
    const leaving = new AbortController();
    const ends = seeds.map(({ model, selector, calldata }, seed) => {
      if (seed % 4 === 1)
        return expect(pool.output(`${seed}`, calldata, { signal: leaving.signal })).rejects.toBe("left");
      if (seed % 4 === 2)
        return expect(pool.output(`${seed}`, new Uint8Array(3))).rejects.toMatchObject({
          code: "SELECTOR_MISMATCH",
        });
      const right = execute(prepare(model, selector), calldata);
      return expect(pool.output(`${seed}`, calldata)).resolves.toEqual(right);
    });
    await nextTurn();
    leaving.abort("left");
    await Promise.all(ends);
  });

  test("behavior: closing it tells whoever waits, and takes nothing more", async () => {
    const heavy = heavyModel();
    const pool = open(new Map([["heavy", heavy]]), { threads: 1 });
    const runs = [0, 1].map(() => pool.output("heavy", heavy.calldata));
    const failed = runs.map((run) =>
      expect(run).rejects.toMatchObject({ code: "CANONICAL_FAILED", retryable: true }),
    );
    pool.close();
    await Promise.all(failed);
    await expect(pool.output("heavy", heavy.calldata)).rejects.toMatchObject({ code: "CANONICAL_FAILED" });
  });

  test("error: where the system has no thread left, a run fails, and the next one may have one", async () => {
    const [{ model, selector, calldata }] = seeds as [(typeof seeds)[number]];
    const pool = open(seeded, { traceInMemory: 0 });
    const worker = vi.spyOn(threads, "Worker").mockImplementation(function refuse() {
      throw new Error("EAGAIN");
    });
    syncBuiltinESMExports();
    try {
      const shortMessage = expect.stringContaining("EAGAIN");
      const refused = { code: "CANONICAL_FAILED", retryable: true, shortMessage };
      const runs = [pool.output("0", calldata), pool.trace("0", calldata)];
      await Promise.all(runs.map((run) => expect(run).rejects.toMatchObject(refused)));
    } finally {
      worker.mockRestore();
      syncBuiltinESMExports();
    }
    expect(await pool.output("0", calldata)).toEqual(execute(prepare(model, selector), calldata));
  });

  test("behavior: the event loop goes on while a trace is made", async () => {
    const heavy = heavyModel();
    const pool = open(new Map([["heavy", heavy]]));
    // The thread is there, and holds the model.
    await pool.output("heavy", heavy.calldata);
    let turns = 0;
    let isOver = false;
    const made = pool.trace("heavy", heavy.calldata).finally(() => {
      isOver = true;
    });
    for (; !isOver; turns++) await nextTurn();
    await made;
    expect(turns).toBeGreaterThan(100);
  });
});
