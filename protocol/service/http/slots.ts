/** Back-pressure: so much at once, and the rest is refused at once with how much there is and when to come again. */
import { BaseError } from "../../../base/errors.ts";

export interface SlotsOptions {
  /** what takes them, as a plural, for errors */
  readonly what: string;
  readonly limit: number;
  /** most for one key; absent: all */
  readonly perKey?: number;
  readonly nowMs: () => number;
}

/** Longest pause that is advised, seconds. */
const MAX_RETRY_AFTER = 60;
/** Weight of the newest time in the mean. */
const NEWEST = 0.2;

export class Slots {
  readonly #options: SlotsOptions;
  readonly #byKey = new Map<string, number>();
  #used = 0;
  #meanMs = 0;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  get used(): number {
    return this.#used;
  }

  /** @param key who takes them, where that is limited @param count how many
   *  @returns gives them back; once
   *  @throws BaseError TOO_BUSY, TOO_MANY_OF_ONE (retryable) */
  take(key = "", count = 1): () => void {
    const { limit, perKey, what, nowMs } = this.#options;
    const own = this.#byKey.get(key) ?? 0;
    if (perKey !== undefined && own + count > perKey)
      throw this.#refusal("TOO_MANY_OF_ONE", `${own} ${what} of one caller`, own, perKey);
    if (this.#used + count > limit)
      throw this.#refusal("TOO_BUSY", `${this.#used} ${what}`, this.#used, limit);
    const since = nowMs();
    this.#used += count;
    this.#byKey.set(key, own + count);
    return () => {
      this.#used -= count;
      const left = (this.#byKey.get(key) as number) - count;
      if (left === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, left);
      this.#meanMs += NEWEST * (nowMs() - since - this.#meanMs);
    };
  }

  /** Holds as many while the work lasts, by default one. @throws BaseError as `take` does */
  async hold<T>(work: () => Promise<T>, count = 1): Promise<T> {
    const giveBack = this.take("", count);
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  #refusal(code: string, found: string, queue: number, limit: number): BaseError {
    // Whoever is last in a queue waits as long as each in it did.
    const seconds = Math.max(1, Math.ceil(this.#meanMs / 1_000));
    const retryAfterSeconds = Math.min(MAX_RETRY_AFTER, seconds);
    return new BaseError({
      code,
      shortMessage: `${found} are under way, the limit is ${limit}.`,
      nextStep: `Ask again in ${retryAfterSeconds} s.`,
      details: { queue, limit, retryAfterSeconds },
      retryable: true,
    });
  }
}
