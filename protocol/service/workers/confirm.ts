/** What a daemon makes of workers' answers. A worker may lie, alone or with others of its login; so an output counts
 *  only where two that share nothing say the same, and this machine's canonical executor is the judge of the rest. */

import { createHash } from "node:crypto";
import type { Hex } from "viem";
import { equalBytes, toHex } from "../../../base/bytes.ts";
import { RecentMap } from "../../../base/recent.ts";
import type { Canonical } from "../../../inference/runtime/canonical-pool.ts";
import { digestOf, joinBytes, splitBytes } from "./orders.ts";
import type { Question, WorkerAnswer } from "./question.ts";
import type { WorkerRuns } from "./runs.ts";

/** What a fast path gives: return data, or why there is none. */
export type FastResult =
  | {
      readonly output: Uint8Array;
      /** on whose word alone; absent: this machine computed it */
      readonly workers?: readonly [string, string];
    }
  | { readonly failure: string };
interface FastPath {
  /** @param leftMs until the output is of no use, ms; absent: there is no such time */
  run(model: string, calldata: Uint8Array, signal?: AbortSignal, leftMs?: number): Promise<FastResult>;
}

type RunAll = (
  model: string,
  inputs: readonly Uint8Array[],
  signal?: AbortSignal,
  leftMs?: number,
) => Promise<readonly FastResult[]>;

export interface ConfirmedParts {
  readonly workers: Pick<WorkerRuns, "ask" | "bar">;
  /** of this machine */
  readonly fast: FastPath;
  readonly canonical: Canonical;
  /** whether workers are asked about a model */
  readonly asksFor: (model: string) => boolean;
}

/** Answers that are compared with a canonical run that is made here later, at most. */
const MOST_REMEMBERED = 1_000;

/** An answer may have a MiB, so its hash is kept, and for the log how it begins. */
interface Remembered {
  readonly worker: string;
  readonly hash: string;
  readonly begins: Hex;
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const beginningOf = (bytes: Uint8Array): Hex => toHex(bytes.slice(0, 128));

/** Compares what workers answered with what the canonical executor of this machine computes. */
class Judged {
  readonly #workers: Pick<WorkerRuns, "bar">;
  readonly #answers = new RecentMap<string, readonly Remembered[]>(MOST_REMEMBERED);

  constructor(workers: Pick<WorkerRuns, "bar">) {
    this.#workers = workers;
  }

  remember(model: string, calldata: Uint8Array, answers: readonly WorkerAnswer[]): void {
    const remembered = answers.map(({ worker, content }) => ({
      ...{ worker, hash: hashOf(content), begins: beginningOf(content) },
    }));
    this.#answers.set(keyOf(model, calldata), remembered);
  }

  judge(model: string, calldata: Uint8Array, honest: Uint8Array): void {
    const key = keyOf(model, calldata);
    for (const { worker, hash, begins } of this.#answers.get(key) ?? [])
      if (hash !== hashOf(honest))
        this.#workers.bar(worker, { model, answered: begins, canonical: beginningOf(honest) });
    this.#answers.delete(key);
  }
}

const keyOf = (model: string, calldata: Uint8Array): string =>
  digestOf({ task: "output", model: model as Hex, input: toHex(calldata) });

const outputOf = (
  model: string,
  input: Uint8Array,
  rest: Omit<Question, "task" | "model" | "input">,
): Question => ({
  ...{ task: "output", model, input, ...rest },
});

/** The canonical executor of this machine; each run of it judges the answers of workers to the same input. */
function judging(canonical: Canonical, judged: Judged): Canonical {
  return {
    output: async (model, calldata, options) => {
      const honest = await canonical.output(model, calldata, options);
      judged.judge(model, calldata, honest);
      return honest;
    },
    check: async (model, calldata, stated, options) => {
      const check = await canonical.check(model, calldata, stated, options);
      if (check.output !== undefined) judged.judge(model, calldata, check.output);
      return check;
    },
    trace: (model, calldata, options) => canonical.trace(model, calldata, options),
  };
}

/** For verdicts: the fast path is what two different workers agree on, and this machine's where they do not. It makes a
 *  claim right and never wrong: that is the word of the canonical executor of this machine alone.
 *  @param sample a number from 0 to 1 for each answer that is used; below 1 in `sampleOneIn` the canonical executor of
 *  this machine is asked as well */
export function confirmedByTwo(
  parts: ConfirmedParts,
  sampleOneIn: number,
  sample: () => number,
): { readonly fast: FastPath & { readonly runAll: RunAll }; readonly canonical: Canonical } {
  const { workers, fast, asksFor } = parts;
  const judged = new Judged(workers);
  const canonical = judging(parts.canonical, judged);
  const decided = async (
    model: string,
    calldata: Uint8Array,
    answers: readonly WorkerAnswer[],
    signal: AbortSignal | undefined,
  ): Promise<FastResult> => {
    const [first, second] = answers;
    if (first === undefined) return fast.run(model, calldata, signal);
    judged.remember(model, calldata, answers);
    if (second === undefined) return fast.run(model, calldata, signal);
    const isSampled = sample() < 1 / sampleOneIn;
    if (equalBytes(first.content, second.content) && !isSampled)
      return { output: first.content, workers: [first.worker, second.worker] };
    try {
      const options = signal === undefined ? {} : { signal };
      return { output: await canonical.output(model, calldata, { ...options, urgency: "own" }) };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  };
  const run: FastPath["run"] = async (model, calldata, signal, leftMs) => {
    if (!asksFor(model)) return fast.run(model, calldata, signal);
    const answers = await workers.ask(outputOf(model, calldata, { count: 2, signal, leftMs }));
    return decided(model, calldata, answers, signal);
  };
  /** In one order, so that what is small is worth sending. */
  const runAll: RunAll = async (model, inputs, signal, leftMs) => {
    const asks = asksFor(model);
    const joined = { task: "outputs", model, input: joinBytes(inputs) } as const;
    const answers = asks ? await workers.ask({ ...joined, count: 2, signal, leftMs }) : [];
    const lists = answers.flatMap(({ worker, content }) => {
      const outputs = splitBytes(content);
      if (outputs?.length === inputs.length) return [{ worker, outputs }];
      workers.bar(worker, { model, answered: beginningOf(content), outputs: inputs.length });
      return [];
    });
    return Promise.all(
      inputs.map((calldata, index) => {
        const own = lists.map(({ worker, outputs }) => ({ worker, content: outputs[index] as Uint8Array }));
        return decided(model, calldata, own, signal);
      }),
    );
  };
  return { fast: { run, runAll }, canonical };
}

/** For money: an output counts where this machine's fast path and another machine's canonical executor say the same.
 *  @returns undefined where they do not, or one is silent: the canonical executor of this machine decides then, and
 *  `judge` is called with what it says */
export function confirmedHere({ workers, fast, asksFor }: Omit<ConfirmedParts, "canonical">) {
  const judged = new Judged(workers);
  return {
    /** @param leftMs as of FastPath */
    output: async (
      model: string,
      calldata: Uint8Array,
      signal: AbortSignal,
      leftMs?: number,
    ): Promise<Uint8Array | undefined> => {
      if (!asksFor(model)) return undefined;
      const [own, answers] = await Promise.all([
        fast.run(model, calldata, signal),
        workers.ask(outputOf(model, calldata, { count: 1, signal, leftMs })),
      ]);
      const [answer] = answers;
      if (answer === undefined) return undefined;
      judged.remember(model, calldata, answers);
      return "output" in own && equalBytes(own.output, answer.content) ? own.output : undefined;
    },
    judge: (model: string, calldata: Uint8Array, honest: Uint8Array): void =>
      judged.judge(model, calldata, honest),
  };
}
export type ConfirmedHere = ReturnType<typeof confirmedHere>;
