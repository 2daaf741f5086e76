/** Whether the node answers, known at any moment without asking it: one small question again and again, so that a
 *  node that is frozen holds nobody up who asks about it. */
import type { Address, PublicClient } from "viem";
import { pause } from "../../chain/follower.ts";

export interface PulseSource {
  readonly client: Pick<PublicClient, "getBlockNumber" | "getBalance">;
  /** absent: a process without a key */
  readonly account?: Address | undefined;
  /** pause between two questions, ms */
  readonly everyMs: number;
  readonly nowMs: () => number;
}

/** After which a question counts as not answered, ms. */
const PATIENCE_MS = 3_000;

export class NodePulse {
  readonly #source: PulseSource;
  #newest: bigint | undefined;
  #balance: bigint | undefined;
  #isUp = false;
  /** ms since 1970; of the last answer, or of the start */
  #answeredAtMs: number;

  constructor(source: PulseSource) {
    this.#source = source;
    this.#answeredAtMs = source.nowMs();
  }

  /** Newest block of the node; undefined while it is silent. */
  get newest(): bigint | undefined {
    return this.#isUp ? this.#newest : undefined;
  }

  /** Balance of the account; undefined while the node is silent. */
  get balance(): bigint | undefined {
    return this.#isUp ? this.#balance : undefined;
  }

  /** Since when the node is silent, ms since 1970; undefined for one that answered the last question. */
  get silentSinceMs(): number | undefined {
    return this.#isUp ? undefined : this.#answeredAtMs;
  }

  /** Asks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.beat();
      await pause(this.#source.everyMs, signal);
    }
  }

  /** Asks once. Never throws, and never takes longer than its patience. */
  async beat(): Promise<void> {
    const { client, account: address, nowMs } = this.#source;
    const answers = Promise.all([
      client.getBlockNumber(),
      address === undefined ? undefined : client.getBalance({ address }),
    ]);
    const answered = await inTime(answers);
    this.#isUp = answered !== undefined;
    if (answered === undefined) return;
    [this.#newest, this.#balance] = answered;
    this.#answeredAtMs = nowMs();
  }
}

/** @returns undefined for an answer that failed or came too late */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  try {
    return await Promise.race([answer.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
