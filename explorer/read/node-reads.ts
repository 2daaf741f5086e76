/** The few values that no event tells, asked of the chain's node: kept for a while, and left out while it is silent, so
 *  that no answer waits for it. */
import type { Address, Hex } from "viem";
import { RecentMap } from "../../base/recent.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { isPublished } from "../../protocol/chain/execution/infer.ts";
import { type AccountWord, PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { gasPriceRange } from "../../protocol/rules/money.ts";
import type { ModelId } from "../../protocol/rules/types.ts";

interface Kept {
  readonly value: unknown;
  readonly untilMs: number;
}

/** Values that are kept. */
const MAX_KEPT = 4_096;
/** Longest that an answer of a server waits for one, ms. */
const PATIENCE_MS = 100;
const SHORT_MS = 5_000;
const FOREVER_MS = 86_400_000;

export class NodeReads {
  readonly #chain: Chain;
  readonly #nowMs: () => number;
  readonly #patienceMs: number;
  readonly #kept = new RecentMap<string, Kept>(MAX_KEPT);
  readonly #asked = new Map<string, Promise<unknown>>();

  /** @param patienceMs longest that an answer waits for a value */
  constructor(chain: Chain, nowMs: () => number, patienceMs = PATIENCE_MS) {
    this.#chain = chain;
    this.#nowMs = nowMs;
    this.#patienceMs = patienceMs;
  }

  /** wei that an account has outside of the contract */
  balance(account: Address): Promise<bigint | undefined> {
    return this.#ask(
      `balance ${account}`,
      () => SHORT_MS,
      () => this.#chain.client.getBalance({ address: account }),
    );
  }

  /** How a prover's stake is split. Ask only where the deployment has promises. */
  stake(prover: Address): Promise<AccountWord | undefined> {
    return this.#ask(
      `stake ${prover}`,
      () => SHORT_MS,
      () => new PromiseStateReader(this.#chain).account(prover),
    );
  }

  /** What a unit of gas costs now, wei. */
  gasPrice(): Promise<bigint | undefined> {
    return this.#ask(
      "gas price",
      () => SHORT_MS,
      () => this.#chain.client.getGasPrice(),
    );
  }

  /** Least gas price of a claim now, wei. */
  claimGasPrice(): Promise<bigint | undefined> {
    return this.#ask(
      "claim's gas price",
      () => SHORT_MS,
      async () => {
        const { baseFeePerGas } = await this.#chain.client.getBlock();
        return gasPriceRange(this.#chain.constants, baseFeePerGas ?? 0n).least;
      },
    );
  }

  /** Whether the chain holds the model's weights; what is published stays so. */
  isPublished(id: Hex): Promise<boolean | undefined> {
    return this.#ask(
      `published ${id}`,
      (known) => (known ? FOREVER_MS : SHORT_MS),
      () => isPublished(this.#chain, id as ModelId),
    );
  }

  /** @returns undefined for what the node does not say, or not soon: the next answer may have it */
  async #ask<Value>(
    key: string,
    keepMs: (value: Value) => number,
    read: () => Promise<Value>,
  ): Promise<Value | undefined> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.untilMs > this.#nowMs()) return kept.value as Value;
    let asking = this.#asked.get(key) as Promise<Value | undefined> | undefined;
    if (asking === undefined) {
      asking = read().then(
        (value) => {
          this.#kept.set(key, { value, untilMs: this.#nowMs() + keepMs(value) });
          return value;
        },
        () => undefined,
      );
      this.#asked.set(key, asking);
      asking.finally(() => this.#asked.delete(key));
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<Value | undefined>((resolve) => {
      timer = setTimeout(() => resolve(kept?.value as Value | undefined), this.#patienceMs);
    });
    try {
      return await Promise.race([asking, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
