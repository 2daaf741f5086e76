/** The trace behind a claim, without the queue of workers: random programs, real runs and trees, and a machine of the
 *  daemon that is late or fails. */
import { describe, expect, test, vi } from "vitest";
import type { Logger } from "../../base/log.ts";
import { seededProgram } from "../../conformance/generate/random-program.ts";
import { type Commitment, commitTrace } from "../../inference/commit/commitments.ts";
import { demandPath, type Position } from "../../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { execute, trace as runTrace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { joinBytes } from "../../protocol/service/workers/orders.ts";
import type { Question, WorkerAnswer } from "../../protocol/service/workers/question.ts";
import {
  readRevealInput,
  revealInput,
  traceInput,
  WorkerTraces,
} from "../../protocol/service/workers/traces.ts";
import { ClaimTrace } from "../../prover/claim-trace.ts";
import type { ServedProgram } from "../../prover/models.ts";
import { createRng } from "../support/rng.ts";

const LEFT_MS = 400;
/** So little that half of it is over at once. */
const SHORT_MS = 20;

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
    ...{ calldata, output: execute(prepared, calldata).slice() },
    ...{ right: commit(honest()), wrong: commit(wrong) },
    ...{ shapes: traceShapes(prepared.program) },
    model: { id: `0x${"ab".repeat(32)}`, name: "random", prepared } as unknown as ServedProgram,
  };
}
type Subject = ReturnType<typeof subjectOf>;

type Answers = (question: Question) => Promise<Uint8Array | undefined>;
const worker = (commitment: Commitment): Answers => {
  const traces = new WorkerTraces({ trace: async () => commitment });
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
    const isHeard = (name: string) => !this.barred.includes(name) && question.without?.has(name) !== true;
    const living = [...this.#answers].filter(([name]) => isHeard(name));
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
  let promise: Promise<Commitment>;
  let made = 0;
  const renew = () => {
    promise = new Promise((...settle) => {
      [resolve, reject] = settle;
    });
    promise.catch(() => undefined);
  };
  renew();
  const runs = {
    trace: () => {
      made += 1;
      return promise;
    },
    reveal: revealAt,
  };
  return {
    ...{ runs, renew, made: () => made },
    resolve: (commitment: Commitment) => resolve(commitment),
    fail: () => reject(new Error("no memory")),
  };
}

function recorder() {
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  return { log, lines };
}

/** Whatever somebody demands on the way to some words. */
function positionsOf({ shapes }: Subject, seed: number): Position[] {
  const rng = createRng(seed);
  return Array.from({ length: 8 }, () => {
    const step = rng.int(0, shapes.length - 1);
    const { words, rows, rowHeight } = shapes[step] as (typeof shapes)[number];
    return demandPath(shapes, step, rng.int(0, rows - 1) * 2 ** rowHeight + rng.int(0, words - 1));
  }).flat();
}

const SMALL = subjectOf(3, 4);
const SMALL_RUN = { calldata: SMALL.calldata, output: SMALL.output };
const [RIGHT, WRONG] = [worker(SMALL.right), worker(SMALL.wrong)];
const silent: Answers = () => new Promise(() => {});
const IS_LATE = "this machine's trace is late: two workers' is committed";
const IS_ANOTHER = "the committed trace is not the one of this machine";
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 10_000 });
const over = () => new AbortController();
const waited = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function claimOf(answers: readonly Answers[], subject = SMALL, asks = true, ends = over()) {
  const [workers, own, { log, lines }] = [new Workers(...answers), machine(), recorder()];
  const { model, calldata, output } = subject;
  const parts = { runs: own.runs, workers: { runs: workers, asksFor: () => asks }, log };
  const trace = new ClaimTrace(parts, { model, calldata, output, signal: ends.signal });
  return { trace, workers, own, lines };
}

describe.concurrent("what is committed", () => {
  test("default: this machine's trace where it comes in time; nobody is asked where it comes soon", async () => {
    const { trace, workers, own, lines } = claimOf([WRONG, WRONG]);
    own.resolve(SMALL.right);
    expect(await trace.tops(SHORT_MS)).toEqual(topsOf(SMALL.right));
    await waited(2 * SHORT_MS);
    expect([workers.asked, workers.barred, lines]).toEqual([[], [], []]);
  });

  test("default: nobody is asked without a deadline, or about a model that workers are not asked about", async () => {
    for (const [leftMs, asks] of [
      [undefined, true],
      [SHORT_MS, false],
    ] as const) {
      const { trace, workers, own } = claimOf([RIGHT, RIGHT], SMALL, asks);
      setTimeout(() => own.resolve(SMALL.right), 2 * SHORT_MS);
      expect(await trace.tops(leftMs)).toEqual(topsOf(SMALL.right));
      expect(workers.asked).toEqual([]);
    }
  });

  test("behavior: this machine's trace in the first half, whatever two workers agree on, who are barred", async () => {
    const { trace, workers, own, lines } = claimOf([WRONG, WRONG]);
    setTimeout(() => own.resolve(SMALL.right), LEFT_MS * 0.4);
    expect(await trace.tops(LEFT_MS)).toEqual(topsOf(SMALL.right));
    expect(workers.barred).toEqual(["w0", "w1"]);
    await waited(LEFT_MS);
    expect(lines).toEqual([]);
  });

  test("behavior: a machine that fails once is asked again, and no worker is believed in the first half", async () => {
    const { trace, workers, own } = claimOf([WRONG, WRONG]);
    own.fail();
    await expect(trace.tops(LEFT_MS)).rejects.toThrow("no memory");
    await soon(() => expect(workers.asked.length).toBe(1));
    own.renew();
    own.resolve(SMALL.right);
    expect(await trace.tops(LEFT_MS)).toEqual(topsOf(SMALL.right));
    expect(workers.barred).toEqual(["w0", "w1"]);
  });

  test("behavior: a machine that always fails: what two workers agree on, not before the second half", async () => {
    const { trace, own, workers } = claimOf([RIGHT, RIGHT]);
    own.fail();
    await expect(trace.tops(3_600_000)).rejects.toThrow("no memory");
    await soon(() => expect(workers.asked.length).toBe(1));
    await expect(trace.tops(1_800_001)).rejects.toThrow("no memory");
    expect(await trace.tops(1_799_999)).toEqual(topsOf(SMALL.right));
  });

  test("behavior: silent workers do not keep a failure of this machine back", async () => {
    const { trace, own } = claimOf([silent, silent]);
    own.fail();
    await expect(trace.tops(3_600_000)).rejects.toThrow("no memory");
  });

  test("behavior: what two workers agree on in the second half; and this machine's again as soon as it is there", async () => {
    const { trace, own, lines, workers } = claimOf([WRONG, WRONG]);
    expect(await trace.tops(SHORT_MS)).toEqual(topsOf(SMALL.wrong));
    expect(await trace.tops(SHORT_MS / 4)).toEqual(topsOf(SMALL.wrong));
    own.resolve(SMALL.right);
    await soon(() => expect(workers.barred).toEqual(["w0", "w1"]));
    // Nothing was sent yet.
    expect(await trace.tops(SHORT_MS / 4)).toEqual(topsOf(SMALL.right));
    expect(lines).toEqual([IS_LATE]);
  });

  test("behavior: where two differ a third one decides, also one that comes later; who differs is barred in the end", async () => {
    for (const answers of [
      [WRONG, RIGHT, RIGHT],
      [RIGHT, WRONG, RIGHT],
    ]) {
      const { trace, own, workers } = claimOf(answers);
      expect(await trace.tops(SHORT_MS)).toEqual(topsOf(SMALL.right));
      expect(workers.asked.map(({ count }) => count)).toEqual([2, 3]);
      own.resolve(SMALL.right);
      await soon(() => expect(workers.barred).toHaveLength(1));
    }
  });

  test("behavior: workers that were not there, or silent, are asked until they are", async () => {
    let asked = 0;
    const later: Answers = (question) => (++asked < 3 ? Promise.resolve(undefined) : RIGHT(question));
    const { trace } = claimOf([later, RIGHT]);
    expect(await trace.tops(SHORT_MS)).toEqual(topsOf(SMALL.right));
  });

  test("error: what no trace publishes bars at once and counts as nothing", async () => {
    const garbage =
      (bytes: number): Answers =>
      async () =>
        new Uint8Array(bytes);
    for (const bytes of [0, 31, 32, 2 ** 20]) {
      const { trace, workers } = claimOf([garbage(bytes), garbage(bytes), RIGHT, RIGHT]);
      expect(await trace.tops(SHORT_MS)).toEqual(topsOf(SMALL.right));
      expect(workers.barred).toEqual(["w0", "w1"]);
    }
  });

  test("error: workers that do not agree, or are too few: this machine says why there is none", async () => {
    for (const answers of [[RIGHT, WRONG], [RIGHT], []]) {
      const { trace, own, workers } = claimOf(answers);
      own.fail();
      await expect(trace.tops(SHORT_MS)).rejects.toThrow("no memory");
      await waited(2 * SHORT_MS);
      await expect(trace.tops(0)).rejects.toThrow("no memory");
      expect(workers.barred).toEqual([]);
    }
  });

  test("behavior: a claim that is over ends everything", async () => {
    const ends = over();
    const { trace, own, workers } = claimOf([RIGHT], SMALL, true, ends);
    const tops = trace.tops(SHORT_MS);
    await soon(() => expect(workers.asked.length).toBeGreaterThan(0));
    ends.abort(new Error("the claim is over"));
    own.fail();
    await expect(tops).rejects.toThrow();
    const { length } = workers.asked;
    await waited(1_200);
    expect(workers.asked).toHaveLength(length);
  });
});

describe.concurrent("what is revealed", () => {
  const [position, ...others] = positionsOf(SMALL, 1) as [Position, ...Position[]];
  const other = others.find(({ step }) => step !== position.step) as Position;
  const { root } = SMALL.right;

  test.each(Array.from({ length: 12 }, (_, i) => [i + 1, i % 3 === 0 ? 70 : 3 * i] as const))(
    "behavior: program %i: all of the committed trace, by workers as by this machine",
    async (seed, steps) => {
      const subject = subjectOf(seed, steps);
      const honest = worker(subject.right);
      const { trace, own, workers } = claimOf([honest, honest], subject);
      expect(await trace.tops(SHORT_MS)).toEqual(topsOf(subject.right));
      const positions = positionsOf(subject, seed);
      const revealed = () =>
        Promise.all(positions.map((one) => trace.reveal(one, subject.right.root, SHORT_MS)));
      const right = positions.map((one) => revealAt(subject.right, one));
      expect(await revealed()).toEqual(right);
      own.resolve(subject.right);
      expect(await revealed()).toEqual(right);
      expect([own.made(), workers.barred]).toEqual([1, []]);
    },
  );

  test("behavior: after a restart it is of the trace on the chain, whatever workers agree on now", async () => {
    const { trace, workers } = claimOf([WRONG, WRONG, RIGHT]);
    expect(await trace.reveal(position, root, SHORT_MS)).toEqual(revealAt(SMALL.right, position));
    expect(workers.asked.map(({ task }) => task)).toEqual(["reveal", "reveal", "reveal"]);
    // Which of the two is right is not known here.
    expect(workers.barred).toEqual([]);
  });

  test("error: what is no reveal of any trace bars at once, and the next one is asked", async () => {
    const lies: Answers[] = [
      async () => new Uint8Array(5),
      async () => joinBytes([new Uint8Array(31), new Uint8Array(32)]),
      async () => joinBytes([new Uint8Array(2 ** 19), new Uint8Array(0)]),
    ];
    for (const lie of lies) {
      const { trace, workers } = claimOf([lie, RIGHT]);
      expect(await trace.reveal(position, root, SHORT_MS)).toEqual(revealAt(SMALL.right, position));
      expect(workers.barred).toEqual(["w0"]);
    }
  });

  test("error: reveals of another trace or position are not used; their workers are barred once this machine knows", async () => {
    const ofAnother: Answers = ({ model }) => {
      const input = revealInput({ ...SMALL_RUN, position: other });
      return RIGHT({ task: "reveal", model, input, count: 1 });
    };
    const { trace, workers, own } = claimOf([WRONG, RIGHT]);
    expect(await trace.reveal(position, root, SHORT_MS)).toEqual(revealAt(SMALL.right, position));
    expect(workers.barred).toEqual([]);
    own.resolve(SMALL.right);
    await soon(() => expect(workers.barred).toEqual(["w0"]));
    const second = claimOf([ofAnother, RIGHT]);
    expect(await second.trace.reveal(position, root, SHORT_MS)).toEqual(revealAt(SMALL.right, position));
  });

  test("behavior: this machine's is used where it is the committed one, also where workers are silent", async () => {
    const { trace, own } = claimOf([silent, silent]);
    setTimeout(() => own.resolve(SMALL.right), 2 * SHORT_MS);
    expect(await trace.reveal(position, root, SHORT_MS)).toEqual(revealAt(SMALL.right, position));
  });

  test("error: a machine whose own trace is another leaves it to workers, bars nobody, and says so once", async () => {
    const { trace, own, workers, lines } = claimOf([RIGHT]);
    own.resolve(SMALL.wrong);
    for (const one of [position, other])
      expect(await trace.reveal(one, root, SHORT_MS)).toEqual(revealAt(SMALL.right, one));
    expect([workers.barred, lines]).toEqual([[], [IS_ANOTHER]]);
    const alone = claimOf([], SMALL, false);
    alone.own.resolve(SMALL.wrong);
    await expect(alone.trace.reveal(position, root, SHORT_MS)).rejects.toThrow(IS_ANOTHER);
  });

  test("behavior: a failure of this machine is told at once; what a worker revealed meanwhile is used next time", async () => {
    const { trace, own } = claimOf([RIGHT]);
    own.fail();
    await expect(trace.reveal(position, root, 3_600_000)).rejects.toThrow("no memory");
    await soon(async () =>
      expect(await trace.reveal(position, root, 3_600_000)).toEqual(revealAt(SMALL.right, position)),
    );
  });
});

describe("a worker's traces", () => {
  const { signal } = over();

  test("default: positions and calldata of orders come back as they were", () => {
    for (const position of [...positionsOf(SMALL, 2), { step: 0xffff, level: 255, index: 2 ** 40 - 1 }]) {
      const question = { position, ...SMALL_RUN };
      expect(readRevealInput(revealInput(question))).toEqual(question);
    }
  });

  test("behavior: a run is traced once for all who ask, also at once, and again where that failed", async () => {
    let made = 0;
    let fails = true;
    const traces = new WorkerTraces({
      trace: async () => {
        made += 1;
        await waited(5);
        if (fails) throw new Error("no memory");
        return SMALL.right;
      },
    });
    const ask = (input: Uint8Array) => traces.trace("m", input, signal);
    const { calldata, output } = SMALL;
    const input = traceInput(SMALL_RUN);
    await expect(Promise.all([ask(input), ask(input)])).rejects.toThrow("no memory");
    fails = false;
    const others = [
      { calldata: calldata.slice(1), output },
      { calldata, output: output.slice(1) },
    ];
    const inputs = [input, ...others.map(traceInput)];
    for (let round = 0; round < 3; round++) await Promise.all([...inputs, ...inputs].map(ask));
    expect(made).toBe(4);
  });

  test("error: what is no order for a reveal is refused, by name", async () => {
    const traces = new WorkerTraces({ trace: async () => SMALL.right });
    for (const input of [new Uint8Array(7), joinBytes([new Uint8Array(7), SMALL.calldata]), joinBytes([])])
      await expect(traces.reveal("m", input, signal)).rejects.toThrow(
        "are not a position, calldata and an output",
      );
    const outside = revealInput({ position: { step: 999, level: 6, index: 0 }, ...SMALL_RUN });
    await expect(traces.reveal("m", outside, signal)).rejects.toThrow(/outside a trace/);
  });
});
