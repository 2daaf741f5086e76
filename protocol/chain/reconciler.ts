/** Compares the journal with the chain: what was mined, what must be sent again, what is stuck. */
import type { Hex, LocalAccount } from "viem";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "./connect.ts";
import { chainError } from "./errors.ts";
import { bumpedFees, currentFees } from "./fees.ts";
import type { JournalEntry, TransactionJournal } from "./journal.ts";
import { broadcast, explainRevert, findReceipt, isKnown, sign, toInclusion } from "./transactions.ts";

export interface ReconcilerOptions {
  readonly stuckAfterMs: number;
  readonly reorgDepth: number;
  readonly maxFeePerGas: bigint;
  readonly now: () => number;
  readonly log: Logger;
}

/** How often the nonce of a transaction must look taken by another before that counts: nodes behind one URL need not agree
 *  at once. */
const SIGHTINGS = 3;

const sightingOf = ({ key, state, nonce }: JournalEntry): string => `${state} ${nonce} ${key}`;

export class Reconciler {
  readonly #chain: Chain & { readonly account: LocalAccount };
  readonly #journal: TransactionJournal;
  readonly #options: ReconcilerOptions;
  /** when this process last sent a transaction, ms, by hash */
  readonly #sentAtMs = new Map<Hex, number>();
  /** how often an entry's nonce was taken and no transaction of the entry was found, by entry */
  readonly #sightings = new Map<string, number>();
  /** Head and mined transactions that were compared last. */
  #checked = "";

  constructor(
    chain: Chain & { readonly account: LocalAccount },
    journal: TransactionJournal,
    options: ReconcilerOptions,
  ) {
    this.#chain = chain;
    this.#journal = journal;
    this.#options = options;
  }

  /** Sends the newest transaction of an entry.
   *  @throws BaseError when the node does not take it */
  async send(entry: JournalEntry): Promise<void> {
    const [newest] = this.#journal.transactionsOf(entry);
    if (newest === undefined) return;
    this.#sentAtMs.set(newest.hash, this.#options.now());
    await broadcast(this.#chain.client, newest.raw, entry.key);
  }

  /** @throws when the node fails; the next pass goes on */
  async pass(): Promise<void> {
    const mined = this.#journal.inState("mined");
    if (mined.length > 0) await this.#checkMined(mined);
    const signed = this.#journal.inState("signed");
    const displaced = this.#journal.unheld().filter((entry) => this.#sightingsOf(entry) < SIGHTINGS);
    if (signed.length === 0 && displaced.length === 0) return;
    const { client, account } = this.#chain;
    const count = await client.getTransactionCount({ address: account.address, blockTag: "latest" });
    for (const entry of displaced) await this.#findDisplaced(entry, count);
    const open: JournalEntry[] = [];
    for (const entry of signed) if (!(await this.#isSettled(entry, count))) open.push(entry);
    await this.#fillGap(count, open);
    for (const [index, entry] of open.entries()) {
      try {
        await this.#push(entry, index === 0);
      } catch (error) {
        const { code, message } = chainError(error, `send ${entry.key} again`);
        this.#options.log.warn({ key: entry.key, code }, message);
      }
    }
  }

  /** Takes up an entry that was deep enough, if its block is gone all the same.
   *  @returns false: it is there @throws when the node fails or has no block so high; as the journal does */
  async takeUp(entry: JournalEntry): Promise<boolean> {
    const { blockNumber, blockHash } = entry.inclusion ?? { blockNumber: 0n };
    const { hash } = await this.#chain.client.getBlock({ blockNumber });
    if (hash === blockHash) return false;
    await this.#recover(entry);
    return true;
  }

  /** Follows mined entries until they are deep enough; takes up those that a re-org dropped. */
  async #checkMined(mined: readonly JournalEntry[]): Promise<void> {
    const { client } = this.#chain;
    const { number: head, hash } = await client.getBlock();
    const checked = [hash, ...mined.map(({ inclusion }) => inclusion?.hash)].join();
    // Until there is another head, a re-org or not, nothing can have become of them.
    if (checked === this.#checked) return;
    const numbers = [...new Set(mined.map(({ inclusion }) => inclusion?.blockNumber ?? 0n))];
    const hashes = new Map(
      await Promise.all(
        numbers.map(async (blockNumber) => {
          const hash = blockNumber > head ? undefined : (await client.getBlock({ blockNumber })).hash;
          return [blockNumber, hash] as const;
        }),
      ),
    );
    for (const entry of mined) {
      const { blockNumber, blockHash } = entry.inclusion ?? { blockNumber: 0n };
      if (hashes.get(blockNumber) !== blockHash) await this.#recover(entry);
      else if (head >= blockNumber + BigInt(this.#options.reorgDepth)) await this.#journal.markDone(entry);
    }
    this.#checked = checked;
  }

  /** The block of a mined entry is gone: it is in another one, or wanted again. */
  async #recover(entry: JournalEntry): Promise<void> {
    if (await this.#isBooked(entry)) return;
    this.#options.log.warn({ key: entry.key }, "a re-org dropped a mined transaction, sending it again");
    await this.#journal.markSigned(entry);
    for (const { hash } of this.#journal.transactionsOf(entry)) this.#sentAtMs.delete(hash);
  }

  /** Books the entry's receipt if there is one. */
  async #isBooked(entry: JournalEntry): Promise<boolean> {
    const { client, account } = this.#chain;
    const hashes = this.#journal.transactionsOf(entry).map(({ hash }) => hash);
    const receipt = await findReceipt(client, hashes);
    if (receipt === undefined) return false;
    if (receipt.status === "success") {
      await this.#journal.markMined(entry, toInclusion(receipt));
    } else {
      const revert = await explainRevert(client, account, entry, receipt);
      await this.#journal.markReverted(entry, toInclusion(receipt), revert);
    }
    return true;
  }

  /** Where two daemons of one key signed the same nonce, the journal holds one of the transactions, and the chain may have
   *  taken the other. */
  async #findDisplaced(entry: JournalEntry, count: number): Promise<void> {
    if (entry.nonce >= count) return;
    if (!(await this.#isBooked(entry))) return this.#see(entry);
    this.#options.log.info({ key: entry.key, nonce: entry.nonce }, "a displaced transaction was mined");
  }

  #sightingsOf(entry: JournalEntry): number {
    return this.#sightings.get(sightingOf(entry)) ?? 0;
  }

  #see(entry: JournalEntry): void {
    this.#sightings.set(sightingOf(entry), this.#sightingsOf(entry) + 1);
  }

  async #isSettled(entry: JournalEntry, count: number): Promise<boolean> {
    if (await this.#isBooked(entry)) {
      this.#sightings.delete(sightingOf(entry));
      return true;
    }
    if (entry.nonce >= count) return false;
    this.#see(entry);
    if (this.#sightingsOf(entry) < SIGHTINGS) return false;
    this.#sightings.delete(sightingOf(entry));
    await this.#journal.markDisplaced(entry);
    this.#options.log.error(
      { key: entry.key, nonce: entry.nonce },
      "another transaction took the nonce: is the key used elsewhere?",
    );
    return true;
  }

  /** A re-org can drop transactions that are settled for the journal but hold nonces that the open ones need. */
  async #fillGap(count: number, open: readonly JournalEntry[]): Promise<void> {
    const lowest = open[0]?.nonce ?? count;
    for (let nonce = count; nonce < lowest; nonce += 1) {
      const raw = this.#journal.transactionAt(nonce);
      if (raw !== undefined) await broadcast(this.#chain.client, raw, `nonce ${nonce}`);
    }
  }

  /** Sends an open entry if this process has not or the node has lost it, or replaces it if it blocks the others for
   *  too long. */
  async #push(entry: JournalEntry, isLowest: boolean): Promise<void> {
    const [newest] = this.#journal.transactionsOf(entry);
    if (newest === undefined) return;
    const sentAtMs = this.#sentAtMs.get(newest.hash);
    if (sentAtMs === undefined) return this.send(entry);
    const { stuckAfterMs, maxFeePerGas, now, log } = this.#options;
    const { client, account, game } = this.#chain;
    if (now() - sentAtMs < stuckAfterMs) {
      // A re-org took it back before its receipt was seen, or the node dropped it: nobody else brings it back.
      if (!(await isKnown(client, newest.hash))) await broadcast(client, newest.raw, entry.key);
      return;
    }
    const fees = isLowest
      ? bumpedFees(newest, await currentFees(client, maxFeePerGas), maxFeePerGas)
      : undefined;
    if (fees !== undefined) {
      await this.#journal.replace(entry, await sign(account, game.chainId, entry, fees, now()));
      log.info({ key: entry.key, maxFeePerGasWei: fees.maxFeePerGas.toString() }, "raised the fee");
    }
    await this.send(entry);
  }
}
