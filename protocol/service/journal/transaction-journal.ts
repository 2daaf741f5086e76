/** The journal as the transaction sender takes it, on top of the one in the folder. */
import type { Hex } from "viem";
import type { BaseError } from "../../../base/errors.ts";
import type { Action } from "../../chain/actions.ts";
import type { Revert } from "../../chain/errors.ts";
import type {
  ActionState,
  Inclusion,
  JournalEntry,
  SignedTransaction,
  TransactionJournal,
} from "../../chain/journal.ts";
import type { LocalJournal } from "./journal.ts";

/** Reads come from the folder; what a change needs besides is its kind's own affair. */
export abstract class FolderJournal implements TransactionJournal {
  protected readonly local: LocalJournal;

  constructor(local: LocalJournal) {
    this.local = local;
  }

  abstract get leads(): boolean;
  abstract refusal(action: Action): BaseError | undefined;

  /** Has a change of an action's entry written. @param begun the action, if this begins it */
  protected abstract write(key: string, change: () => void, begun?: Action): Promise<void>;

  get(key: string): JournalEntry | undefined {
    return this.local.get(key);
  }

  inState(state: ActionState): JournalEntry[] {
    return this.local.inState(state);
  }

  unheld(): JournalEntry[] {
    return this.local.unheld();
  }

  nextNonce(): number {
    return this.local.nextNonce();
  }

  transactionsOf(entry: JournalEntry): SignedTransaction[] {
    return this.local.transactionsOf(entry);
  }

  transactionAt(nonce: number): Hex | undefined {
    return this.local.transactionAt(nonce);
  }

  async sign(
    action: Action,
    nonce: number,
    gas: bigint,
    transaction: SignedTransaction,
  ): Promise<JournalEntry> {
    await this.write(action.key, () => this.local.sign(action, nonce, gas, transaction), action);
    return this.local.get(action.key) as JournalEntry;
  }

  replace(entry: JournalEntry, transaction: SignedTransaction): Promise<void> {
    return this.write(entry.key, () => this.local.replace(entry, transaction));
  }

  markMined(entry: JournalEntry, inclusion: Inclusion): Promise<void> {
    return this.write(entry.key, () => this.local.markMined(entry, inclusion));
  }

  markReverted(entry: JournalEntry, inclusion: Inclusion, revert: Revert): Promise<void> {
    return this.write(entry.key, () => this.local.markReverted(entry, inclusion, revert));
  }

  markDone(entry: JournalEntry): Promise<void> {
    return this.write(entry.key, () => this.local.markDone(entry));
  }

  markSigned(entry: JournalEntry): Promise<void> {
    return this.write(entry.key, () => this.local.markSigned(entry));
  }

  markDisplaced(entry: JournalEntry): Promise<void> {
    return this.write(entry.key, () => this.local.markDisplaced(entry));
  }
}

/** Of a key that this process alone signs with. */
export class OwnJournal extends FolderJournal {
  readonly leads = true;

  refusal(): undefined {
    return undefined;
  }

  protected async write(_key: string, change: () => void): Promise<void> {
    change();
  }
}
