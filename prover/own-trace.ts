/** A trace that this machine makes, whenever it can. */
import type { Commitment } from "../inference/commit/commitments.ts";

export class OwnTrace {
  readonly #make: () => Promise<Commitment>;
  readonly #onMade: ((trace: Commitment) => void)[] = [];
  readonly #onFailed: (() => void)[] = [];
  #making: Promise<Commitment> | undefined;
  #made: Commitment | undefined;

  constructor(make: () => Promise<Commitment>) {
    this.#make = make;
  }

  get made(): Commitment | undefined {
    return this.#made;
  }

  /** Made at the first call, and anew at the first call after it failed. */
  get(): Promise<Commitment> {
    this.#making ??= this.#make().then(
      (trace) => {
        this.#made = trace;
        for (const call of this.#onMade.splice(0)) call(trace);
        return trace;
      },
      (error: unknown) => {
        this.#making = undefined;
        for (const call of this.#onFailed.splice(0)) call();
        throw error;
      },
    );
    return this.#making;
  }

  /** @param call called once, now or when it is made; never where it is not made */
  whenMade(call: (trace: Commitment) => void): void {
    if (this.#made === undefined) this.#onMade.push(call);
    else call(this.#made);
  }

  /** @returns what resolves at the next failure */
  get failure(): Promise<void> {
    return new Promise((resolve) => this.#onFailed.push(resolve));
  }
}
