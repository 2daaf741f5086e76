/** State of the promises: what their contract stores, as values, and Assay beneath it. */
import type { Address, Hex } from "viem";
import type { GameState } from "../machine.ts";
import type { ClaimId, GameConstants, ModelId, RequestId } from "../types.ts";
import type { BatchId } from "./batch.ts";
import type { Digest, PromisesAddress, SignedClaim } from "./signed-claim.ts";

/** A prover's stake is free + leaving + away + slots. Amounts in wei, times in seconds. */
export interface Account {
  readonly free: bigint;
  readonly leaving: bigint;
  readonly exitAt: number;
  /** bonds of claims in Assay */
  readonly away: bigint;
  /** set aside for leaves of batches, idle */
  readonly slots: bigint;
  /** signed claims that wait for stake, oldest first */
  readonly queue: readonly Digest[];
  /** since when the head has been too dear for all of the stake; 0: it is not known to be */
  readonly hotSince: number;
  /** keys that sign for the prover, and until when */
  readonly keys: ReadonlyMap<Address, number>;
}

export const EMPTY_ACCOUNT: Account = {
  ...{ free: 0n, leaving: 0n, exitAt: 0, away: 0n, slots: 0n },
  ...{ queue: [], hotSince: 0, keys: new Map() },
};

export const stakeOf = ({
  free,
  leaving,
  away,
  slots,
}: Pick<Account, "free" | "leaving" | "away" | "slots">): bigint => free + leaving + away + slots;

/** Where a bond came from, and goes back to. */
export interface Parts {
  /** of the batch's idle slot, 0 or B */
  readonly slot: bigint;
  readonly free: bigint;
  readonly leaving: bigint;
}

/** CLOSED: its claim ended and is paid out. Without an entry, or taken back: NONE. */
export type PromiseStatus = "NONE" | "QUEUED" | "OPEN" | "CLOSED";

export interface SignedEntry {
  readonly status: PromiseStatus;
  readonly claim: SignedClaim;
  /** who signed */
  readonly key: Address;
  /** second in which it was shown last */
  readonly queuedAt: number;
  readonly opener: Address;
  readonly deposit: bigint;
}

export interface LeafEntry {
  readonly status: PromiseStatus;
  readonly opener: Address;
  readonly deposit: bigint;
}

export interface BatchState {
  readonly prover: Address;
  readonly modelId: ModelId;
  readonly window: number;
  readonly windowEnd: number;
  readonly count: number;
  readonly root: Hex;
  /** B: what a leaf's claim is bonded with at least */
  readonly bond: bigint;
  readonly idleSlots: number;
  /** leaves that are open or queued */
  readonly open: number;
  readonly queue: readonly number[];
  readonly isFallen: boolean;
  readonly leaves: ReadonlyMap<number, LeafEntry>;
}

/** A claim in Assay, and what it was filed for. */
export interface Filed {
  readonly prover: Address;
  readonly requestId: RequestId;
  readonly of: { readonly digest: Digest } | { readonly batchId: BatchId; readonly index: number };
  readonly parts: Parts;
  readonly opener: Address;
  readonly deposit: bigint;
  readonly isClosed: boolean;
}

export interface PromisesState {
  readonly address: PromisesAddress;
  readonly assay: GameState;
  readonly constants: GameConstants;
  readonly accounts: ReadonlyMap<Address, Account>;
  readonly signed: ReadonlyMap<Digest, SignedEntry>;
  readonly batches: ReadonlyMap<BatchId, BatchState>;
  readonly filed: ReadonlyMap<ClaimId, Filed>;
  readonly credits: ReadonlyMap<Address, bigint>;
  /** claims ever filed: the next request's salt */
  readonly counter: bigint;
  /** ether that the contract holds */
  readonly balance: bigint;
  /** wei that ever came in, Assay's halves of tickets included */
  readonly received: bigint;
  /** wei that exits, withdrawals and pulls of what is burned took out */
  readonly paid: bigint;
  /** wei burned and not yet pulled */
  readonly burned: bigint;
  /** bonds of claims that fell */
  readonly lost: bigint;
}

export function newPromises(address: PromisesAddress, assay: GameState): PromisesState {
  return {
    address,
    assay,
    constants: assay.constants,
    ...{ accounts: new Map(), signed: new Map(), batches: new Map(), filed: new Map(), credits: new Map() },
    ...{ counter: 0n, balance: 0n, received: 0n, paid: 0n, burned: 0n, lost: 0n },
  };
}

export const accountOf = (state: PromisesState, prover: Address): Account =>
  state.accounts.get(prover) ?? EMPTY_ACCOUNT;
