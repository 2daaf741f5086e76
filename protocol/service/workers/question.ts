/** What a daemon asks workers, and what becomes of it. */
import type { WorkerTask } from "./orders.ts";

/** What became of an order or of an answer to one. `too-few`: fewer workers live than must answer; `late`: the limit
 *  passed; `refused`: those that live gave no answer, and will give none; `resting`: none is asked for a while, for they
 *  were late; `no-time`: what is left of a window is too short; `malformed`: it does not answer what was asked; `failed`: the worker could not run it; `wrong`: the canonical executor
 *  of this machine has another output. */
export const OUTCOMES = [
  "answered",
  "too-few",
  "too-large",
  "no-time",
  "resting",
  "late",
  "refused",
  "malformed",
  "failed",
  "wrong",
] as const;
export type OrderOutcome = (typeof OUTCOMES)[number];

export interface WorkerAnswer {
  /** whose it is: see `identityOf` */
  readonly worker: string;
  readonly content: Uint8Array;
}

export interface Question {
  readonly task: WorkerTask;
  readonly model: string;
  readonly input: Uint8Array;
  /** answers of as many different workers */
  readonly count: number;
  /** whose answers are not wanted */
  readonly without?: ReadonlySet<string> | undefined;
  /** how long workers have, ms; absent: as long as for a run */
  readonly limitMs?: number | undefined;
  /** aborts when nobody waits any more */
  readonly signal?: AbortSignal | undefined;
  /** until the answer is of no use, ms; absent: there is no such time */
  readonly leftMs?: number | undefined;
}
