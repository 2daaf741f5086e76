/** The parts of a step that two threads compute, in memory that both see: the first thread offers them, both take them. */
import type { Span } from "../executor/parts.ts";

const FIELDS = ["left", "done", "state", "taken", "step", "tensors", "from", "to", "length"] as const;
const AT = Object.fromEntries(FIELDS.map((name, i) => [name, i])) as Record<(typeof FIELDS)[number], number>;

const [READY, FAILED] = [1, 2];

/** Times that a number is polled before a thread sleeps until it changes: some 50 µs. */
const MOST_POLLS = 20_000;

/** Of one wait, ms. To a wait the time in which the process is stopped counts too, though no thread has run in it: it ends
 *  this one alone. */
const WAIT_MS = 1_000;

export interface Part extends Span {
  readonly step: number;
  /** number of the run's tensors */
  readonly tensors: number;
}

export class SharedParts {
  /** Travels to the other thread. */
  readonly counts: Int32Array;

  /** @param counts of the other thread; absent: there is none yet */
  constructor(counts?: Int32Array) {
    this.counts = counts ?? new Int32Array(new SharedArrayBuffer(4 * FIELDS.length));
  }

  /** The second thread takes parts. */
  get isReady(): boolean {
    return Atomics.load(this.counts, AT.state) === READY;
  }

  get hasFailed(): boolean {
    return Atomics.load(this.counts, AT.state) === FAILED;
  }

  /** Parts that the second thread has computed. */
  get taken(): number {
    return Atomics.load(this.counts, AT.taken);
  }

  setReady(): void {
    Atomics.store(this.counts, AT.state, READY);
  }

  setFailed(): void {
    Atomics.store(this.counts, AT.state, FAILED);
  }

  /** INVARIANT: all parts that were offered before are done. @param length elements of a part @returns how many they are */
  offer({ step, tensors, from, to }: Part, length: number): number {
    const { counts } = this;
    for (const [name, value] of Object.entries({ step, tensors, from, to, length }))
      counts[AT[name as keyof typeof AT]] = value;
    const parts = Math.ceil((to - from) / length);
    Atomics.store(counts, AT.done, 0);
    Atomics.store(counts, AT.left, parts);
    Atomics.notify(counts, AT.left);
    return parts;
  }

  /** @returns a part that the other thread does not have; undefined: there is none */
  take(): Part | undefined {
    const { counts } = this;
    for (let left = Atomics.load(counts, AT.left); left > 0; left = Atomics.load(counts, AT.left)) {
      if (Atomics.compareExchange(counts, AT.left, left, left - 1) !== left) continue;
      // What is offered stays until this part is done.
      const [length, end] = [counts[AT.length] as number, counts[AT.to] as number];
      const from = (counts[AT.from] as number) + (left - 1) * length;
      const [step, tensors] = [counts[AT.step] as number, counts[AT.tensors] as number];
      return { step, tensors, from, to: Math.min(end, from + length) };
    }
    return undefined;
  }

  /** The second thread has computed a part. */
  finish(): void {
    Atomics.add(this.counts, AT.taken, 1);
    Atomics.add(this.counts, AT.done, 1);
    Atomics.notify(this.counts, AT.done);
  }

  /** Waits until the second thread has computed as many. @returns false where it computes none within the time, ms */
  awaitDone(count: number, ms: number): boolean {
    const { counts } = this;
    let waitedMs = 0;
    for (let done = Atomics.load(counts, AT.done); done < count; done = Atomics.load(counts, AT.done)) {
      waitedMs = awaitChange(counts, AT.done, done, WAIT_MS) ? 0 : waitedMs + WAIT_MS;
      if (waitedMs >= ms) return false;
    }
    return true;
  }

  /** Waits while there is no part to take. */
  awaitOffer(): void {
    awaitChange(this.counts, AT.left, 0);
  }
}

/** Waits while the number is `value`. @returns false where the time is over and it still is */
function awaitChange(
  counts: Int32Array,
  field: number,
  value: number,
  ms = Number.POSITIVE_INFINITY,
): boolean {
  for (let polls = 0; polls < MOST_POLLS; polls++) if (Atomics.load(counts, field) !== value) return true;
  return Atomics.wait(counts, field, value, ms) !== "timed-out";
}
