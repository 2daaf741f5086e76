/** What an event of Promises adds to counts and amounts, beside those of Assay's events. Pure. All amounts in wei.
 *
 *  A promise's claim is Promises' own in Assay: its bond, and what it gains or loses there, pass on to the prover whose
 *  promise it is when the claim is closed. */
import type { Address } from "viem";
import type { PromiseEvent, PromiseEventOf } from "../../protocol/chain/promises/events.ts";
import { finalPayout } from "../../protocol/rules/money.ts";
import type { Claim } from "../../protocol/rules/types.ts";
import { type Delta, Ledger } from "./deltas.ts";
import { seqOf } from "./moves.ts";

/** An event with the time of its block, seconds since 1970. */
export interface TimedPromise {
  readonly event: PromiseEvent;
  readonly time: number;
}

/** A claim that is over. */
export interface ClosedClaim {
  readonly claim: Claim;
  readonly tickets: number;
}

/** What a closed claim was of. */
interface Origin {
  readonly claim: ClosedClaim;
  readonly prover: Address;
  readonly opener: Address;
  readonly deposit: bigint;
}

/** Adds under one event. */
export class PromiseLedger {
  readonly #ledger: Ledger;

  constructor({ event, time }: TimedPromise) {
    this.#ledger = new Ledger(seqOf(event.block.number, event.logIndex), time);
  }

  get deltas(): readonly Delta[] {
    return this.#ledger.deltas;
  }

  posted({ args: { batch } }: PromiseEventOf<"Posted">): void {
    const leaves = BigInt(batch.count);
    this.#ledger.total({ "promise:batches": 1n, "promise:leaves": leaves });
    this.#ledger.day({ leaves });
    this.#ledger.add("model", batch.modelId, { batches: 1n, leaves });
    this.#ledger.account(batch.prover, { batches: 1n, leaves });
  }

  batchFell(prover: Address): void {
    this.#ledger.total({ "promise:batchesFallen": 1n });
    this.#ledger.account(prover, { batchesFallen: 1n });
  }

  signedOpened(prover: Address): void {
    this.#ledger.total({ "promise:signed": 1n });
    this.#ledger.account(prover, { signed: 1n });
  }

  signedFell(prover: Address): void {
    this.#ledger.total({ "promise:signedFell": 1n });
    this.#ledger.account(prover, { signedFell: 1n });
  }

  /** Somebody opened a promise. */
  shown(opener: Address, deposit: bigint): void {
    this.#ledger.total({ "promise:deposits": deposit });
    this.#ledger.account(opener, { opened: 1n, deposits: deposit });
  }

  /** The deposit goes back: its credit is an event of its own. */
  takenBack(opener: Address, deposit: bigint): void {
    this.#ledger.total({ "promise:deposits": -deposit });
    this.#ledger.account(opener, { deposits: -deposit });
  }

  closed({ claim: { claim, tickets }, prover, opener, deposit }: Origin, fallen: boolean): void {
    const inAssay = fallen ? -claim.bond : finalPayout(claim, tickets, 0n).prover - claim.bond;
    const half = fallen ? 0n : deposit / 2n;
    const burned = fallen ? 0n : deposit - half;
    const won = inAssay + half;
    this.#ledger.total({ "promise:stake": won, "promise:deposits": -deposit, "promise:burned": burned });
    this.#ledger.account(claim.prover, {}, { result: -inAssay });
    this.#ledger.account(prover, { stake: won }, { result: won });
    this.#ledger.account(opener, { deposits: -deposit }, fallen ? {} : { result: -deposit });
  }
}

/** What any event adds, whatever it is about. */
export function countOf({ event, time }: TimedPromise): readonly Delta[] {
  const ledger = new Ledger(seqOf(event.block.number, event.logIndex), time);
  ledger.total({ events: 1n });
  return ledger.deltas;
}

/** Of an event that is about an account alone; none of a promise's. */
export function accountDeltasOf({ event, time }: TimedPromise): readonly Delta[] {
  const { name, args } = event;
  const ledger = new Ledger(seqOf(event.block.number, event.logIndex), time);
  switch (name) {
    case "Deposited":
      ledger.total({ "promise:stake": args.amount });
      ledger.account(args.prover, { stake: args.amount, staked: 1n });
      break;
    case "Exited":
      ledger.total({ "promise:stake": -args.amount });
      ledger.account(args.prover, { stake: -args.amount });
      break;
    case "Credited":
      ledger.total({ "promise:credits": args.amount });
      ledger.account(args.account, { promiseCredit: args.amount });
      break;
    case "Withdrawn":
      ledger.total({ "promise:credits": -args.amount });
      ledger.account(args.account, { promiseCredit: -args.amount });
      break;
    case "Burned":
      ledger.total({ "promise:burned": -args.amount });
      break;
    default:
  }
  return ledger.deltas;
}
