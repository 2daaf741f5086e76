/** What the transaction sender keeps of its transactions, on a disk that outlives the process. */
import type { Address, Hex } from "viem";
import type { BaseError } from "../../base/errors.ts";
import type { Action } from "./actions.ts";
import type { Revert } from "./errors.ts";

export type ActionState = "signed" | "mined" | "done" | "reverted" | "displaced";

/** Where a transaction was mined, and what it cost. */
export interface Inclusion {
  readonly hash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly gasUsed: bigint;
  /** wei a unit of gas */
  readonly gasPrice: bigint;
}

export interface JournalEntry {
  readonly key: string;
  readonly state: ActionState;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  /** when the action's first transaction was signed, ms since 1970 */
  readonly signedAtMs: number;
  readonly inclusion?: Inclusion;
  readonly revert?: Revert;
}

export interface SignedTransaction {
  readonly hash: Hex;
  readonly raw: Hex;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly signedAtMs: number;
}

/** Reads tell what this process knows, at once. A change is written, where it must outlive the process, when its promise
 *  resolves. */
export interface TransactionJournal {
  /** False while another process may sign with this key, or it is not known whether one does: nothing new is begun. */
  readonly leads: boolean;
  /** Why this action may not be begun now; undefined: it may. */
  refusal(action: Action): BaseError | undefined;
  get(key: string): JournalEntry | undefined;
  /** Entries in a state that this process follows, by nonce. */
  inState(state: ActionState): JournalEntry[];
  /** Displaced entries, of those that this process follows, whose nonce no other entry holds: the chain may have taken
   *  theirs. */
  unheld(): JournalEntry[];
  /** The lowest nonce that no live entry holds and no lower one will need. */
  nextNonce(): number;
  /** Signed transactions of an entry's nonce, newest first. */
  transactionsOf(entry: JournalEntry): SignedTransaction[];
  /** The dearest signed transaction of a nonce, raw. */
  transactionAt(nonce: number): Hex | undefined;
  /** Writes an action and its first transaction, before it is sent. An action that reverted or was displaced is
   *  taken up again under its new nonce. Where the nonce is that of a transaction that reverted, a re-org took the
   *  failure back, and this one takes its place: it may even be the same transaction. */
  sign(action: Action, nonce: number, gas: bigint, transaction: SignedTransaction): Promise<JournalEntry>;
  /** Writes a transaction that replaces the entry's earlier ones, before it is sent. */
  replace(entry: JournalEntry, transaction: SignedTransaction): Promise<void>;
  markMined(entry: JournalEntry, inclusion: Inclusion): Promise<void>;
  markReverted(entry: JournalEntry, inclusion: Inclusion, revert: Revert): Promise<void>;
  /** Mined deep enough. */
  markDone(entry: JournalEntry): Promise<void>;
  /** Re-organized away: its transaction is wanted again. */
  markSigned(entry: JournalEntry): Promise<void>;
  /** Another transaction used its nonce. */
  markDisplaced(entry: JournalEntry): Promise<void>;
}
