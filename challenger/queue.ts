/** Work in order of what is at stake, a few items at a time. */
export interface Ranked<Key> {
  readonly key: Key;
  /** greater goes first */
  readonly stake: bigint;
  /** smaller goes first among equal stakes: older claims close earlier */
  readonly age: bigint;
}

/** Runs `work` on each key once at a time, at most `width` keys at once. */
export class StakeQueue<Key> {
  readonly #work: (key: Key) => Promise<void>;
  readonly #width: number;
  readonly #waiting = new Map<Key, Ranked<Key>>();
  readonly #running = new Map<Key, Promise<void>>();
  #isStopped = false;

  /** @param work must not throw */
  constructor(width: number, work: (key: Key) => Promise<void>) {
    this.#width = width;
    this.#work = work;
  }

  /** Keys that wait or run. */
  get size(): number {
    return this.#waiting.size + this.#running.size;
  }

  add(item: Ranked<Key>): void {
    if (this.#running.has(item.key)) return;
    this.#waiting.set(item.key, item);
    this.#fill();
  }

  /** Takes no more work and waits for what runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  #fill(): void {
    while (!this.#isStopped && this.#running.size < this.#width && this.#waiting.size > 0) {
      const { key } = [...this.#waiting.values()].reduce((first, item) =>
        item.stake > first.stake || (item.stake === first.stake && item.age < first.age) ? item : first,
      );
      this.#waiting.delete(key);
      const done = this.#work(key).finally(() => {
        this.#running.delete(key);
        this.#fill();
      });
      this.#running.set(key, done);
    }
  }
}
