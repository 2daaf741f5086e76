/** Sends what an account holds above what it needs to another address, as a daemon's operator may want it. */
import type { Address } from "viem";
import type { Action } from "./actions.ts";
import { withContext } from "./errors.ts";
import { currentFees } from "./fees.ts";
import { type Obligations, reserveOf, type WithdrawParts } from "./withdraw.ts";

export interface SweepTerms {
  readonly to: Address;
  /** wei that stay, besides the gas of what is owed */
  readonly above: bigint;
}

export interface SweepParts extends Pick<WithdrawParts, "chain" | "sender" | "log" | "signal"> {
  /** most wei a unit of gas */
  readonly maxFee: bigint;
}

/** Gas limit of a transfer: 21,000 to a key, some 30,000 to a usual multi-signature contract. */
const TRANSFER_GAS = 100_000n;
/** What is sent is worth that many times its most gas: a transfer to a key costs less than a hundredth of it. */
const LEAST_WORTH = 25n;
const PREFIX = "sweep:";

export class Sweep {
  readonly #parts: SweepParts;
  readonly #terms: SweepTerms;
  readonly #obligations: Obligations;
  /** Why nothing was sent, as it was logged. */
  #reported = "";

  constructor(parts: SweepParts, terms: SweepTerms, obligations: Obligations) {
    this.#parts = parts;
    this.#terms = terms;
    this.#obligations = obligations;
  }

  /** Sends what is above, if it is worth a transaction. Until the last one is deeper than re-orgs go nothing is sent: so
   *  whoever is killed, or finds another chain, sends nothing twice.
   *  @throws BaseError CHAIN_NOT_READ_YET; faults of the node */
  async run(): Promise<void> {
    const { sender, log, signal } = this.#parts;
    // Finds out what was mined, or is not any more.
    await withContext("follow own transactions", () => sender.tick());
    if (sender.unsettled().some(({ key }) => key.startsWith(PREFIX))) return;
    const action = await this.#transfer();
    if (action === undefined) return;
    const { to, value: amountWei } = action;
    log.info({ to, amountWei }, "sweeping");
    const result = await sender.send(action, signal);
    if (signal.aborted) return;
    switch (result.status) {
      case "sent":
        this.#reported = "";
        return log.info({ to, amountWei, hash: result.inclusion.hash }, "swept");
      case "refused":
        return this.#report(`the receiver refuses: ${result.revert.message}`);
      case "retryable":
        return this.#report(result.error.shortMessage);
      case "already-done":
        return;
    }
  }

  async #transfer(): Promise<Action | undefined> {
    const { chain, sender, maxFee } = this.#parts;
    const { client, account } = chain;
    const [{ number, hash }, fees] = await withContext("read the newest block and its fees", () =>
      Promise.all([client.getBlock(), currentFees(client, maxFee)]),
    );
    // A daemon that cannot tell what it owes sends nothing.
    const stays = this.#terms.above + reserveOf(this.#parts, this.#obligations, number);
    const onItsWay = sender.unmined().reduce((sum, { value }) => sum + value, 0n);
    const balance = await withContext("read the balance", () =>
      client.getBalance({ address: account.address, blockNumber: number }),
    );
    // Twice: the next block may be dearer than this one.
    const cost = 2n * TRANSFER_GAS * fees.maxFeePerGas;
    const value = balance - onItsWay - stays - cost;
    if (value < LEAST_WORTH * cost) return undefined;
    const { to } = this.#terms;
    return {
      ...{ key: `${PREFIX}${to}:${hash}`, to, data: "0x", value, gas: TRANSFER_GAS },
      // INVARIANT: it is signed only if this stays, whatever else was signed meanwhile.
      leaves: stays,
      doneBy: [],
    };
  }

  #report(reason: string): void {
    if (reason === this.#reported) return;
    this.#reported = reason;
    this.#parts.log.warn({ to: this.#terms.to, reason }, "nothing is swept");
  }
}
