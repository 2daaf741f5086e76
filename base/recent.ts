/** What a process remembers of things that anybody may cause: the newest so many. */
export class RecentMap<Key, Value> {
  readonly #limit: number;
  readonly #entries = new Map<Key, Value>();

  /** @param limit entries that are kept; the oldest leaves first */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Makes it the newest. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) break;
      this.#entries.delete(oldest);
    }
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }
}

/** Says of each key whether it is met for the first time, as far as the newest so many tell. */
export class RecentSet<Key> {
  readonly #keys: RecentMap<Key, true>;

  /** @param limit keys that are kept; the oldest leaves first */
  constructor(limit: number) {
    this.#keys = new RecentMap(limit);
  }

  has(key: Key): boolean {
    return this.#keys.has(key);
  }

  /** @returns false if it was there */
  add(key: Key): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.set(key, true);
    return true;
  }

  delete(key: Key): boolean {
    return this.#keys.delete(key);
  }
}
