/** What a challenger would send. */
import type { Address } from "viem";
import type { Logger } from "../base/log.ts";
import { RecentSet } from "../base/recent.ts";
import type { Action } from "../protocol/chain/actions.ts";
import { currentFees } from "../protocol/chain/fees.ts";
import type { SigningChain } from "../protocol/chain/sender.ts";
import { simulate } from "../protocol/chain/transactions.ts";
import type { PromiseMoveResult, TransactionSender } from "./transaction-sender.ts";

/** Moves that are remembered so that each is logged once. */
const MAX_REPORTED = 10_000;

/** Simulates each transaction and says what it would put at risk. */
export class DryRunSender implements TransactionSender {
  readonly #chain: SigningChain;
  readonly #maxFee: bigint;
  readonly #log: Logger;
  readonly #reported = new RecentSet<string>(MAX_REPORTED);

  /** @param maxFee most wei a unit of gas */
  constructor(chain: SigningChain, maxFee: bigint, log: Logger) {
    this.#chain = chain;
    this.#maxFee = maxFee;
    this.#log = log;
  }

  get address(): Address {
    return this.#chain.account.address;
  }

  /** Nothing is filed in simulation. */
  get exposure(): bigint {
    return 0n;
  }

  async act(action: Action, facts: Record<string, unknown>): Promise<boolean> {
    if (!this.#reported.add(action.key)) return false;
    const { client, account } = this.#chain;
    const result = await simulate(client, account, action, await currentFees(client, this.#maxFee));
    if (typeof result === "bigint") {
      this.#log.info({ ...facts, gas: result, exposureWei: action.value }, "would move");
    } else {
      this.#log.warn({ ...facts, refused: result }, "would move, but the contract refuses");
    }
    return false;
  }

  async move(
    action: Action,
    facts: Record<string, unknown>,
    deposit?: { readonly key: string; readonly wei: bigint },
  ): Promise<PromiseMoveResult> {
    await this.act(action, { ...facts, ...(deposit === undefined ? {} : { depositWei: deposit.wei }) });
    return { status: "withheld", reason: "this is a dry run" };
  }

  async gasPrice(): Promise<bigint> {
    return (await currentFees(this.#chain.client, this.#maxFee)).maxFeePerGas;
  }

  readonly isTripped = false;
  lost(): void {}
  holds(): void {}
  tidy(): void {}

  async stop(): Promise<void> {}
}
