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
  /** A binary heap: whoever pays for claims decides how many wait, and each must be cheap. */
  readonly #heap: Ranked<Key>[] = [];
  readonly #waiting = new Set<Key>();
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

  /** A key that waits or runs already stays where it is. */
  add(item: Ranked<Key>): void {
    if (this.#running.has(item.key) || this.#waiting.has(item.key)) return;
    this.#waiting.add(item.key);
    this.#push(item);
    this.#fill();
  }

  /** Takes no more work and waits for what runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    this.#heap.length = 0;
    await Promise.all(this.#running.values());
  }

  #fill(): void {
    while (!this.#isStopped && this.#running.size < this.#width) {
      const next = this.#pop();
      if (next === undefined) return;
      const { key } = next;
      this.#waiting.delete(key);
      const done = this.#work(key).finally(() => {
        this.#running.delete(key);
        this.#fill();
      });
      this.#running.set(key, done);
    }
  }

  #push(item: Ranked<Key>): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(item, heap[parent] as Ranked<Key>)) break;
      heap[at] = heap[parent] as Ranked<Key>;
      at = parent;
    }
    heap[at] = item;
  }

  #pop(): Ranked<Key> | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return last;
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      if (left >= heap.length) break;
      const isRight = right < heap.length && isBefore(heap[right] as Ranked<Key>, heap[left] as Ranked<Key>);
      const child = isRight ? right : left;
      if (!isBefore(heap[child] as Ranked<Key>, last)) break;
      heap[at] = heap[child] as Ranked<Key>;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = <Key>(a: Ranked<Key>, b: Ranked<Key>): boolean =>
  a.stake > b.stake || (a.stake === b.stake && a.age < b.age);
