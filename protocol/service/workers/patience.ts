/** Whether workers are asked although they answered late before. One that takes every order and answers none looks
 *  alive, and would cost each run the whole limit. */

/** Late answers in a row after which none is asked for a while. */
const MOST_LATE = 3;
/** What an answer in time makes good, as a share of a late one: whoever answers now and then, so as to be asked and to
 *  cost time, is not asked either. */
const MAKES_GOOD = 1 / 8;
/** How long none is asked, ms: at first, and at most. It doubles while answers are late. */
export const REST_MS = { first: 30_000, most: 600_000 } as const;

/** `probe`: after a rest one order alone finds out whether answers come in time again. */
export type Ask = "yes" | "probe" | "no";

export class Patience {
  readonly #nowMs: () => number;
  #late = 0;
  #restMs: number = REST_MS.first;
  /** absent: they are asked */
  #restsUntilMs: number | undefined;
  #isProbing = false;

  /** @param nowMs a clock that never goes back */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** True until a probe was answered in time. */
  get isResting(): boolean {
    return this.#restsUntilMs !== undefined;
  }

  /** Every probe is followed by `ended` or `calledOff`. */
  ask(): Ask {
    if (this.#restsUntilMs === undefined) return "yes";
    if (this.#isProbing || this.#nowMs() < this.#restsUntilMs) return "no";
    this.#isProbing = true;
    return "probe";
  }

  /** The order ended before anything could be known. */
  calledOff(ask: Ask): void {
    if (ask === "probe") this.#isProbing = false;
  }

  /** @returns what changed: a rest began or ended; undefined where it is as before */
  ended(ask: Ask, isLate: boolean): "rests" | "recovers" | undefined {
    if (ask === "probe") return this.#probed(isLate);
    // An order that was under way when the rest began says no more.
    if (this.isResting) return undefined;
    this.#late = isLate ? this.#late + 1 : Math.max(0, this.#late - MAKES_GOOD);
    if (this.#late === 0) this.#restMs = REST_MS.first;
    if (this.#late < MOST_LATE) return undefined;
    this.#rest();
    return "rests";
  }

  #probed(isLate: boolean): "recovers" | undefined {
    this.#isProbing = false;
    if (isLate) {
      this.#rest();
      return undefined;
    }
    this.#restsUntilMs = undefined;
    // The next late answer begins a longer rest, until enough of them came in time.
    this.#late = MOST_LATE - 1;
    return "recovers";
  }

  #rest(): void {
    this.#restsUntilMs = this.#nowMs() + this.#restMs;
    this.#restMs = Math.min(REST_MS.most, 2 * this.#restMs);
  }
}
