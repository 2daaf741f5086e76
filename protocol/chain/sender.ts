/** Brings actions onto the chain, each exactly once, whatever happens to this process in between.
 *
 *  An action is simulated, signed with the next nonce, journalled, and only then sent. Whoever opens the journal
 *  later sends the very same bytes again until one transaction of that nonce is mined, raises the fee when it is
 *  stuck, and follows it until it is deep enough, through re-orgs. */
import type { LocalAccount } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { type Logger, SILENT } from "../../base/log.ts";
import type { Action } from "./actions.ts";
import type { Chain } from "./connect.ts";
import { chainError, type Revert } from "./errors.ts";
import { currentFees, type Fees } from "./fees.ts";
import { pause } from "./follower.ts";
import type { Inclusion, JournalEntry, TransactionJournal } from "./journal.ts";
import { Reconciler } from "./reconciler.ts";
import { sign, simulate } from "./transactions.ts";

export type SendResult =
  /** mined by this call */
  | { readonly status: "sent"; readonly inclusion: Inclusion }
  /** the effect is there: sent before (inclusion given), or brought about by somebody else */
  | { readonly status: "already-done"; readonly inclusion?: Inclusion }
  /** the contract refuses; inclusion given if that cost a transaction */
  | { readonly status: "refused"; readonly revert: Revert; readonly inclusion?: Inclusion }
  /** not known yet; send the same action again */
  | { readonly status: "retryable"; readonly error: BaseError };

/** Whoever brings actions onto the chain: a daemon's Sender, a wallet in a browser. */
export type ActionSender = Pick<Sender, "send">;

/** Called before each transaction. @param behind transactions that are done or were not needed @param all of them,
 *  estimated */
export type OnProgress = (message: string, behind: number, all: number) => void;

export const REORG_DEPTH = 64;

export interface SenderOptions {
  readonly pollIntervalMs?: number;
  /** after which the fee is raised; default 30,000 */
  readonly stuckAfterMs?: number;
  /** blocks after which a re-org is not expected any more; default REORG_DEPTH */
  readonly reorgDepth?: number;
  /** most wei a unit of gas; default 500 gwei */
  readonly maxFeePerGas?: bigint;
  readonly now?: () => number;
  readonly log?: Logger;
}

export type SigningChain = Chain & { readonly account: LocalAccount };

/** @throws BaseError KEY_MISSING for a chain that can only be read */
export function requireAccount(chain: Chain): SigningChain {
  const { account } = chain;
  if (account !== undefined) return { ...chain, account };
  throw new BaseError({
    code: "KEY_MISSING",
    shortMessage: "This needs a key to sign transactions, and none is configured.",
    nextStep: "Set ASSAY_KEY, or --keystore with ASSAY_KEYSTORE_PASSWORD_FILE; `assay key new` makes one.",
  });
}

export class Sender {
  readonly #chain: SigningChain;
  readonly #journal: TransactionJournal;
  readonly #options: Required<SenderOptions>;
  readonly #reconciler: Reconciler;
  readonly #stopping = new AbortController();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #starting = new Map<string, Promise<SendResult>>();
  #turn: Promise<unknown> = Promise.resolve();
  #loop: Promise<void> | undefined;

  constructor(chain: SigningChain, journal: TransactionJournal, options: SenderOptions = {}) {
    this.#chain = chain;
    this.#journal = journal;
    this.#options = {
      pollIntervalMs: options.pollIntervalMs ?? 1_000,
      stuckAfterMs: options.stuckAfterMs ?? 30_000,
      reorgDepth: options.reorgDepth ?? REORG_DEPTH,
      maxFeePerGas: options.maxFeePerGas ?? 500n * 10n ** 9n,
      now: options.now ?? Date.now,
      log: options.log ?? SILENT,
    };
    this.#reconciler = new Reconciler(chain, journal, this.#options);
  }

  /** Takes up what an earlier process left and keeps following it. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Ends the loop and waits for sends that are under way: afterwards nothing reads or writes the journal. Waiting
   *  sends return retryable, their transactions stay journalled. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    for (const key of [...this.#waiting.keys()]) this.#wake(key);
    await Promise.all(this.#starting.values());
  }

  /** Actions that are not mined yet. */
  unmined(): JournalEntry[] {
    return this.#journal.inState("signed");
  }

  /** Those, and what is mined and a re-org may take back. */
  unsettled(): JournalEntry[] {
    return [...this.#journal.inState("mined"), ...this.unmined()];
  }

  /** Whether this process may begin something new with its key. */
  get leads(): boolean {
    return this.#journal.leads;
  }

  /** Why this process may not begin an action now; undefined: it may. */
  refusal(action: Action): BaseError | undefined {
    return this.#journal.refusal(action);
  }

  /** Whether an action was sent and may be on the chain, now or again after a re-org. */
  isFollowed(key: string): boolean {
    const state = this.#journal.get(key)?.state;
    return state === "signed" || state === "mined" || state === "done";
  }

  /** Brings an action onto the chain and waits until it is mined. The same key sends once, however often and from
   *  however many callers it comes; a key that was refused may be sent again. Needs `start`. Never throws for a
   *  fault of chain or node. */
  async send(action: Action, signal?: AbortSignal): Promise<SendResult> {
    const known = await this.#known(action);
    if (known !== undefined) return known;
    const refusal = this.#journal.refusal(action);
    if (refusal !== undefined) return { status: "retryable", error: refusal };
    const entry = this.#journal.get(action.key);
    if (entry?.state === "signed") return this.#wait(action, signal);
    const begun = this.#starting.get(action.key);
    if (begun !== undefined) return begun;
    const started = this.#begin(action, signal).finally(() => this.#starting.delete(action.key));
    this.#starting.set(action.key, started);
    return started;
  }

  /** One pass over everything that is unsettled. The loop does it; tests call it. */
  async tick(): Promise<void> {
    try {
      await this.#reconciler.pass();
    } finally {
      // Some may have ended before the node failed. Where another process follows them now, nobody here hears of their
      // end.
      const { leads } = this.#journal;
      for (const key of [...this.#waiting.keys()])
        if (!leads || this.#journal.get(key)?.state !== "signed") this.#wake(key);
    }
  }

  /** What is known of an action that was mined. What was deep enough is followed no more: whoever asks for it again sees a
   *  chain without it, and where a re-org that deep took it away it is taken up. */
  async #known(action: Action): Promise<SendResult | undefined> {
    const entry = this.#journal.get(action.key);
    if (entry?.state !== "mined" && entry?.state !== "done") return undefined;
    try {
      if (entry.state === "done" && (await this.#reconciler.takeUp(entry))) return this.#known(action);
    } catch (error) {
      return { status: "retryable", error: chainError(error, `send ${action.key}`) };
    }
    return { status: "already-done", ...(entry.inclusion && { inclusion: entry.inclusion }) };
  }

  async #begin(action: Action, signal: AbortSignal | undefined): Promise<SendResult> {
    try {
      const { client, account } = this.#chain;
      const fees = await currentFees(client, this.#options.maxFeePerGas);
      const simulated = await simulate(client, account, action, fees);
      if (typeof simulated !== "bigint") {
        const isDone = action.doneBy.includes(simulated.name);
        return isDone ? { status: "already-done" } : { status: "refused", revert: simulated };
      }
      const entry = await this.#inTurn(() => this.#journalled(action, simulated, fees));
      await this.#reconciler.send(entry);
    } catch (error) {
      const fault = chainError(error, `send ${action.key}`);
      // Once it is journalled the loop carries it on; before, nothing happened.
      if (this.#journal.get(action.key)?.state !== "signed") return { status: "retryable", error: fault };
      this.#options.log.warn({ key: action.key, code: fault.code }, fault.message);
    }
    return this.#wait(action, signal);
  }

  /** Takes the next nonce, signs and writes the journal. One at a time, or two actions would share a nonce. */
  async #journalled(action: Action, gas: bigint, fees: Fees): Promise<JournalEntry> {
    const { client, account, game } = this.#chain;
    const count = await client.getTransactionCount({ address: account.address, blockTag: "pending" });
    const nonce = Math.max(count, this.#journal.nextNonce());
    await this.#requireFunds(action, gas, fees);
    const transaction = await sign(
      account,
      game.chainId,
      { ...action, gas, nonce },
      fees,
      this.#options.now(),
    );
    const { hash, maxFeePerGas } = transaction;
    this.#options.log.debug({ key: action.key, nonce, gas, maxFeePerGas, hash }, "signed a transaction");
    return this.#journal.sign(action, nonce, gas, transaction);
  }

  /** The simulation knows nothing of what is on its way. A transaction that the balance does not pay for would never be
   *  mined, nor would any after it: answers to challengers, say. So is asked before it has a nonce.
   *  @throws BaseError BALANCE_TOO_LOW (retryable) */
  async #requireFunds({ key, value, leaves }: Action, gas: bigint, fees: Fees): Promise<void> {
    const unmined = this.unmined();
    if (value === 0n || (unmined.length === 0 && leaves === undefined)) return;
    const { client, account } = this.#chain;
    // A node that is behind would tell of money that is spent.
    let blockNumber = await client.getBlockNumber();
    for (const { inclusion } of this.unsettled())
      if (inclusion !== undefined && inclusion.blockNumber > blockNumber) blockNumber = inclusion.blockNumber;
    const balance = await client.getBalance({ address: account.address, blockNumber });
    const onItsWay = unmined.reduce((sum, entry) => {
      const [dearest] = this.#journal.transactionsOf(entry);
      return sum + entry.value + entry.gas * (dearest?.maxFeePerGas ?? 0n);
    }, 0n);
    const left = balance - onItsWay - value - gas * fees.maxFeePerGas;
    if (left < (leaves ?? 0n)) throw balanceTooLow(key, value, balance, onItsWay, leaves ?? 0n);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #wait(action: Action, signal: AbortSignal | undefined): Promise<SendResult> {
    while (this.#journal.get(action.key)?.state === "signed") {
      if (this.#stopping.signal.aborted || signal?.aborted === true) {
        return { status: "retryable", error: notMinedYet(action.key) };
      }
      const refusal = this.#journal.refusal(action);
      if (refusal !== undefined) return { status: "retryable", error: refusal };
      await this.#change(action.key, signal);
    }
    const entry = this.#journal.get(action.key);
    if (entry?.state === "reverted" && entry.revert !== undefined) {
      const inclusion = entry.inclusion === undefined ? {} : { inclusion: entry.inclusion };
      if (action.doneBy.includes(entry.revert.name)) return { status: "already-done", ...inclusion };
      // Between estimate and block the work became more; the next estimate knows.
      if (entry.revert.name === "OutOfGas" && action.gas === undefined)
        return { status: "retryable", error: ranOutOfGas(entry) };
      return { status: "refused", revert: entry.revert, ...inclusion };
    }
    if (entry?.inclusion !== undefined) return { status: "sent", inclusion: entry.inclusion };
    return { status: "retryable", error: displaced(action.key) };
  }

  /** Resolves at the next change of the key's entry, or when the signal aborts. */
  #change(key: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting);
      const wake = () => {
        waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      waiting.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  #wake(key: string): void {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    for (const wake of waiting ?? []) wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.tick();
      } catch (error) {
        const { code, message } = chainError(error, "follow own transactions");
        this.#options.log.warn({ code }, message);
      }
      await pause(this.#options.pollIntervalMs, signal);
    }
  }
}

function balanceTooLow(
  key: string,
  value: bigint,
  balance: bigint,
  onItsWay: bigint,
  leaves: bigint,
): BaseError {
  const kept = leaves === 0n ? "" : `, and ${formatAmount(leaves)} must stay`;
  return new BaseError({
    code: "BALANCE_TOO_LOW",
    shortMessage: `${key} takes ${formatAmount(value)} and gas, the account has ${formatAmount(balance)}, of which up to ${formatAmount(onItsWay)} are on their way${kept}.`,
    nextStep: "Wait until that is mined, or send ether to the account.",
    retryable: true,
  });
}

function notMinedYet(key: string): BaseError {
  return new BaseError({
    code: "NOT_MINED_YET",
    shortMessage: `${key} is sent but not mined yet.`,
    nextStep: "Send it again: it goes on where it is, and is never sent twice.",
    retryable: true,
  });
}

function ranOutOfGas({ key, gas }: JournalEntry): BaseError {
  return new BaseError({
    code: "OUT_OF_GAS",
    shortMessage: `${key} was mined but used up its gas limit of ${gas}: other transactions came before it.`,
    nextStep: "Send it again; its gas is estimated anew.",
    retryable: true,
  });
}

function displaced(key: string): BaseError {
  return new BaseError({
    code: "NONCE_TAKEN",
    shortMessage: `Another transaction of the same account took the nonce of ${key}.`,
    nextStep: "Send it again, and use the key in one place only.",
    retryable: true,
  });
}
