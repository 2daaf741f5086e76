/** Traces by workers, without their queue: random programs, real runs and trees, and a machine of the daemon that is late
 *  or fails. */
import { describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import { seededProgram } from "../../conformance/generate/random-program.ts";
import { type Commitment, commitTrace } from "../../inference/commit/commitments.ts";
import { demandPath, type Position } from "../../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { trace as runTrace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { Canonical } from "../../inference/runtime/canonical-pool.ts";
import { joinBytes } from "../../protocol/service/workers/orders.ts";
import type { Question, WorkerAnswer } from "../../protocol/service/workers/runs.ts";
import { readRevealInput, revealInput, WorkerTraces } from "../../protocol/service/workers/traces.ts";
import type { ServedProgram } from "../../prover/models.ts";
import { traceOf } from "../../prover/trace-with-workers.ts";
import { createRng } from "../support/rng.ts";

const LEFT_MS = 400;

/** A program, an input, its trace and one that is wrong by a bit of its last tensor. */
function subjectOf(seed: number, steps: number) {
  const { model, selector, calldata } = seededProgram(seed, { steps });
  const prepared = prepare(model, selector);
  const honest = () => runTrace(prepared, calldata);
  const wrong = honest();
  const bytes = wrong.at(-1)?.data as unknown as Uint8Array;
  new Uint8Array(bytes.buffer, bytes.byteOffset, 1)[0] =
    (new Uint8Array(bytes.buffer, bytes.byteOffset)[0] as number) ^ 1;
  const commit = (tensors: ReturnType<typeof honest>) => commitTrace(prepared.program, tensors);
  return {
    ...{ calldata, right: commit(honest()), wrong: commit(wrong) },
    ...{ shapes: traceShapes(prepared.program) },
    model: { id: `0x${"ab".repeat(32)}`, name: "random", prepared } as unknown as ServedProgram,
  };
}
type Subject = ReturnType<typeof subjectOf>;

type Answers = (question: Question) => Promise<Uint8Array | undefined>;
const worker = (commitment: Commitment): Answers => {
  const traces = new WorkerTraces({ trace: async () => ({ tensors: [], commitment }) });
  const { signal } = new AbortController();
  return ({ task, model, input }) =>
    task === "trace" ? traces.trace(model, input, signal) : traces.reveal(model, input, signal);
};

/** Whom a daemon asks: as WorkerRuns, whoever is barred is not asked, and without enough of them nobody. */
class Workers {
  readonly asked: Question[] = [];
  readonly barred: string[] = [];
  readonly #answers: Map<string, Answers>;

  constructor(...answers: readonly Answers[]) {
    this.#answers = new Map(answers.map((answer, i) => [`w${i}`, answer]));
  }

  readonly ask = async (question: Question): Promise<readonly WorkerAnswer[]> => {
    this.asked.push(question);
    const living = [...this.#answers].filter(([name]) => !this.barred.includes(name));
    if (living.length < question.count) return [];
    const all = living.slice(0, question.count).map(async ([name, answer]) => {
      const content = await answer(question);
      return content === undefined ? [] : [{ worker: name, content }];
    });
    return (await Promise.all(all)).flat();
  };

  readonly bar = (name: string): void => {
    if (!this.barred.includes(name)) this.barred.push(name);
  };
}

/** The machine of the daemon, of which the test decides when it is done. */
function machine() {
  let resolve: (commitment: Commitment) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Commitment>((...settle) => {
    [resolve, reject] = settle;
  });
  promise.catch(() => undefined);
  let runs = 0;
  const canonical: Pick<Canonical, "trace"> = {
    trace: async () => {
      runs += 1;
      return { tensors: [], commitment: await promise };
    },
  };
  return { canonical, resolve, reject, runs: () => runs };
}

function recorder() {
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  return { log, lines };
}

function positionsOf({ shapes, right }: Subject, seed: number): Position[] {
  const rng = createRng(seed);
  return Array.from({ length: 8 }, () => {
    const step = rng.int(0, shapes.length - 1);
    const { words, rows, rowHeight } = shapes[step] as (typeof shapes)[number];
    const leaf = rng.int(0, rows - 1) * 2 ** rowHeight + rng.int(0, words - 1);
    return demandPath(shapes, step, leaf);
  })
    .flat()
    .filter(({ step }) => step !== 0xffff || right.tensors.length > 64);
}

interface Play {
  readonly subject?: Subject;
  readonly workers: Workers;
  readonly own: ReturnType<typeof machine>;
  readonly leftMs?: number | undefined;
  readonly asks?: boolean;
}
const SMALL = subjectOf(3, 4);

function play({ subject = SMALL, workers, own, leftMs = LEFT_MS, asks = true }: Play) {
  const { log, lines } = recorder();
  const { model, calldata } = subject;
  const over = new AbortController();
  const order = { model, calldata, signal: over.signal, leftMs };
  const asked = { runs: workers, asksFor: () => asks };
  const traced = traceOf({ canonical: own.canonical, workers: asked, log }, order);
  return { traced, lines, over };
}

const [RIGHT, WRONG] = [worker(SMALL.right), worker(SMALL.wrong)];
const root = toHex(SMALL.right.root);
const IS_LATE = "this machine's trace is late: two workers' is committed";
const IS_WRONG = "two workers agreed on a wrong trace, which may be committed";

describe("a trace that this machine makes in time", () => {
  test("default: it is committed, whatever two workers agree on, who are barred", async () => {
    const [workers, own] = [new Workers(WRONG, WRONG), machine()];
    const { traced, lines } = play({ workers, own });
    setTimeout(() => own.resolve(SMALL.right), LEFT_MS / 8);
    expect(toHex((await traced).root)).toBe(root);
    expect(workers.barred).toEqual(["w0", "w1"]);
    await new Promise((resolve) => setTimeout(resolve, LEFT_MS));
    expect(lines).toEqual([]);
  });

  test("default: nobody is asked without a deadline, or about a model that workers are not asked about", async () => {
    for (const changes of [{ leftMs: undefined }, { asks: false }]) {
      const [workers, own] = [new Workers(RIGHT, RIGHT), machine()];
      const { log } = recorder();
      const { model, calldata } = SMALL;
      const order = { model, calldata, signal: new AbortController().signal, leftMs: LEFT_MS, ...changes };
      const asked = { runs: workers, asksFor: () => changes.asks ?? true };
      own.resolve(SMALL.right);
      const traced = await traceOf({ canonical: own.canonical, workers: asked, log }, order);
      expect([toHex(traced.root), workers.asked]).toEqual([root, []]);
    }
  });
});

describe("a trace that this machine does not make in time", () => {
  test.each(Array.from({ length: 12 }, (_, i) => [i + 1, i % 3 === 0 ? 70 : 3 * i] as const))(
    "behavior: program %i: two workers' is committed, and every reveal of a worker is of it",
    async (seed, steps) => {
      const subject = subjectOf(seed, steps);
      const honest = worker(subject.right);
      const [workers, own] = [new Workers(honest, honest), machine()];
      const { traced, lines } = play({ subject, workers, own, leftMs: 20 });
      const { tops, reveal, root } = await traced.then((one) => ({
        ...{ tops: one.tops, root: one.root, reveal: one.reveal.bind(one) },
      }));
      expect(toHex(root)).toBe(toHex(subject.right.root));
      expect(tops).toEqual(topsOf(subject.right));
      for (const position of positionsOf(subject, seed))
        expect(await reveal(position, LEFT_MS)).toEqual(revealAt(subject.right, position));
      expect(lines).toEqual([IS_LATE]);
      own.resolve(subject.right);
      await expect.poll(own.runs).toBe(1);
      expect([workers.barred, lines.length]).toEqual([[], 1]);
    },
  );

  test("behavior: a machine that cannot make it takes the workers' at once, and tries anew for a reveal", async () => {
    const [workers, own] = [new Workers(RIGHT, RIGHT), machine()];
    own.reject(new Error("no memory"));
    const { traced } = play({ workers, own, leftMs: 3_600_000 });
    const [position] = positionsOf(SMALL, 1) as [Position];
    expect(await (await traced).reveal(position)).toEqual(revealAt(SMALL.right, position));
    expect(own.runs()).toBe(2);
  });

  test("error: workers that do not agree, are too few, or publish what no trace does: this machine says why", async () => {
    const garbage =
      (bytes: number): Answers =>
      async () =>
        new Uint8Array(bytes);
    for (const answers of [
      [RIGHT, WRONG],
      [RIGHT],
      [],
      [garbage(31), garbage(31)],
      [garbage(0), garbage(0)],
      [garbage(2 ** 20), garbage(2 ** 20)],
      [async () => undefined, RIGHT],
    ]) {
      const [workers, own] = [new Workers(...answers), machine()];
      own.reject(new Error("no memory"));
      await expect(play({ workers, own }).traced).rejects.toThrow("no memory");
      expect([own.runs(), workers.barred]).toEqual([1, []]);
    }
  });

  test("behavior: where two differ a third one decides", async () => {
    const [workers, own] = [new Workers(WRONG, RIGHT, RIGHT), machine()];
    const { traced } = play({ workers, own, leftMs: 20 });
    expect(toHex((await traced).root)).toBe(root);
    expect(workers.asked.map(({ count }) => count)).toEqual([2, 3]);
  });

  test("behavior: who differs from this machine's trace, when that comes, is barred; a late one is still waited for", async () => {
    const [workers, own] = [new Workers(RIGHT, WRONG), machine()];
    const { traced } = play({ workers, own, leftMs: 20 });
    setTimeout(() => own.resolve(SMALL.right), 60);
    expect(toHex((await traced).root)).toBe(root);
    expect(workers.barred).toEqual(["w1"]);
  });

  test("behavior: two that lie together are found out by this machine's trace: both are barred, and it is said", async () => {
    const [workers, own] = [new Workers(WRONG, WRONG), machine()];
    const { traced, lines } = play({ workers, own, leftMs: 20 });
    expect(toHex((await traced).root)).toBe(toHex(SMALL.wrong.root));
    own.resolve(SMALL.right);
    await expect.poll(() => lines).toEqual([IS_LATE, IS_WRONG]);
    expect(workers.barred).toEqual(["w0", "w1"]);
  });

  test("error: reveals that are not of the trace bar their workers, and the next one is asked", async () => {
    const [position, ...others] = positionsOf(SMALL, 1) as [Position, ...Position[]];
    const other = others.find(({ step }) => step !== position.step) as Position;
    const lies: Answers[] = [
      worker(SMALL.wrong),
      async () => new Uint8Array(5),
      async () => joinBytes([new Uint8Array(31), new Uint8Array(32)]),
      async () => joinBytes([new Uint8Array(2 ** 19), new Uint8Array(0)]),
      async ({ model }) => {
        const input = revealInput({ position: other, calldata: SMALL.calldata });
        return RIGHT({ task: "reveal", model, input, count: 1 });
      },
    ];
    for (const lie of lies) {
      const liar: Answers = (question) => (question.task === "trace" ? RIGHT(question) : lie(question));
      const [workers, own] = [new Workers(liar, RIGHT), machine()];
      const { traced } = play({ workers, own, leftMs: 20 });
      const trace = await traced;
      own.reject(new Error("no memory"));
      await expect(trace.reveal(position)).rejects.toThrow("no memory");
      expect(workers.barred).toEqual(["w0"]);
      expect(await trace.reveal(position)).toEqual(revealAt(SMALL.right, position));
    }
  });

  test("behavior: a claim that is over ends the wait", async () => {
    const [workers, own] = [new Workers(), machine()];
    const { traced, over } = play({ workers, own, leftMs: 3_600_000 });
    over.abort(new Error("the claim is over"));
    own.reject(new Error("the claim is over"));
    await expect(traced).rejects.toThrow("the claim is over");
  });
});

describe("orders for reveals", () => {
  test("default: a position and calldata come back as they were", () => {
    const { calldata } = SMALL;
    for (const position of [...positionsOf(SMALL, 2), { step: 0xffff, level: 255, index: 2 ** 40 - 1 }])
      expect(readRevealInput(revealInput({ position, calldata }))).toEqual({ position, calldata });
  });

  test("error: what is no such order is refused, by name", async () => {
    const { signal } = new AbortController();
    const traces = new WorkerTraces({ trace: async () => ({ tensors: [], commitment: SMALL.right }) });
    for (const input of [new Uint8Array(7), joinBytes([new Uint8Array(7), SMALL.calldata]), joinBytes([])])
      await expect(traces.reveal("m", input, signal)).rejects.toThrow("are not a position and calldata");
    const outside = revealInput({ position: { step: 999, level: 6, index: 0 }, calldata: SMALL.calldata });
    await expect(traces.reveal("m", outside, signal)).rejects.toThrow(/outside a trace/);
  });
});
