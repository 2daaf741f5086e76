/** What an event adds to counts and amounts, by account, model, lane and day. Pure. All amounts in wei. */
import type { Address, Hex } from "viem";
import type { ClaimEntry, ClaimIndex, RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { ChainEvent, EventOf } from "../../protocol/chain/events.ts";
import { laneName } from "../../protocol/chain/finality.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import { fallPayout, finalPayout } from "../../protocol/rules/money.ts";
import { FALL_REASONS, LANE, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import type { TransactionFacts } from "./facts.ts";
import { firstOf, seqOf, type TimedEvent } from "./moves.ts";

/** Whose sums. `prover` and `challenger`: of one model, id is model and account. */
export type Scope =
  | "total"
  | "day"
  | "lane"
  | "account"
  | "accountDay"
  | "model"
  | "modelLane"
  | "prover"
  | "challenger";

export interface Delta {
  readonly scope: Scope;
  readonly id: string;
  /** first second of the day; 0 where sums are of all days */
  readonly day: number;
  /** where the event stands that adds it */
  readonly seq: number;
  readonly add: Readonly<Record<string, bigint>>;
  /** values of which the least and the greatest are kept, too */
  readonly range?: Readonly<Record<string, bigint>>;
}

const DAY = 86_400;
/** Where the gas of posted leaves is counted, beside the lanes. */
export const BATCHED = "BATCHED";
export const dayOf = (time: number): number => time - (time % DAY);
/** Id of a sum of an account on one model. */
export const pairOf = (model: Hex, account: Address): string => `${model}:${account}`;

/** Adds under one event. */
export class Ledger {
  readonly deltas: Delta[] = [];
  readonly #seq: number;
  readonly #day: number;

  constructor(seq: number, time: number) {
    this.#seq = seq;
    this.#day = dayOf(time);
  }

  add(scope: Scope, id: string, add: Delta["add"], range?: Delta["range"]): void {
    this.#put(scope, id, 0, add, range);
  }

  total(add: Delta["add"]): void {
    this.#put("total", "", 0, add);
  }

  day(add: Delta["add"]): void {
    this.#put("day", "", this.#day, add);
  }

  /** @param ofDay what also counts on this day */
  account(account: Address, add: Delta["add"], ofDay: Delta["add"] = {}, range?: Delta["range"]): void {
    this.#put("account", account, 0, { ...ofDay, ...add }, range);
    if (Object.keys(ofDay).length > 0) this.#put("accountDay", account, this.#day, ofDay);
  }

  #put(scope: Scope, id: string, day: number, add: Delta["add"], range?: Delta["range"]): void {
    this.deltas.push({ scope, id, day, seq: this.#seq, add, ...(range === undefined ? {} : { range }) });
  }
}

/** @param index after the event: of its request at least; empty for events of none
 *  @param requestedAt second of its request */
export function deltasOf({ event, time }: TimedEvent, index: ClaimIndex, requestedAt = 0): Delta[] {
  const ledger = new Ledger(seqOf(event.block.number, event.logIndex), time);
  ledger.total({ events: 1n });
  switch (event.name) {
    case "ModelRegistered":
      ledger.total({ models: 1n });
      break;
    case "Requested":
      requested(ledger, event);
      break;
    case "Claimed":
      claimed(ledger, event);
      break;
    case "Challenged":
      challenged(ledger, event, index.claims.get(event.args.claimId));
      break;
    case "Fell":
      fell(ledger, event, index.claims.get(event.args.claimId), time);
      break;
    case "Settled":
      ledger.account(event.args.submitter, { settled: 1n });
      break;
    case "Finalized":
      finalized(ledger, event, index, time - requestedAt);
      break;
    case "Refunded": {
      const { fee, deliveryFee, requester } = requestIn(index, event.args.requestId).request;
      const back = fee + deliveryFee;
      ledger.total({ fees: -back, "request:OPEN": -1n, "request:REFUNDED": 1n });
      ledger.account(requester, { feesHeld: -back, paidFees: -back });
      break;
    }
    case "Delivered":
      if (event.args.success) delivered(ledger, event.args.by, requestIn(index, event.args.requestId));
      break;
    case "DeliveryReclaimed": {
      const { deliveryFee, requester } = requestIn(index, event.args.requestId).request;
      ledger.total({ fees: -deliveryFee });
      ledger.account(requester, { feesHeld: -deliveryFee, paidFees: -deliveryFee });
      break;
    }
    case "Collected": {
      const { owner, amount } = event.args;
      ledger.total({ uncollected: -amount });
      ledger.account(owner, { uncollected: -amount });
      break;
    }
    case "Credited": {
      const { account, amount } = event.args;
      ledger.total({ credits: amount });
      ledger.account(account, { credit: amount }, { credited: amount });
      break;
    }
    case "Withdrawn": {
      const { account, amount } = event.args;
      ledger.total({ credits: -amount, withdrawn: amount });
      ledger.account(account, { credit: -amount, withdrawn: amount });
      break;
    }
    case "Burned":
      ledger.total({ burned: -event.args.amount, pulled: event.args.amount });
      break;
    default:
  }
  return ledger.deltas;
}

function requested(ledger: Ledger, { args }: EventOf<"Requested">): void {
  const { requester, modelId, fee, deliveryFee } = args.request;
  const value = fee + deliveryFee;
  ledger.total({ received: value, fees: value, "request:OPEN": 1n });
  ledger.day({ requests: 1n, fees: value });
  ledger.add("model", modelId, { requests: 1n });
  ledger.account(requester, { requests: 1n, feesHeld: value, paidFees: value }, { paidIn: value });
}

function claimed(ledger: Ledger, { args }: EventOf<"Claimed">): void {
  const { prover, operator, modelId, bond } = args.claim;
  ledger.total({ received: bond, bonds: bond, "request:OPEN": -1n, "request:BUSY": 1n, "claim:ACTIVE": 1n });
  ledger.day({ claims: 1n, bonds: bond });
  ledger.add("model", modelId, { claims: 1n });
  ledger.add("prover", pairOf(modelId, prover), { claims: 1n });
  ledger.account(prover, { liveClaims: 1n, bondsHeld: bond }, { claims: 1n, paidIn: bond });
  if (operator !== ZERO_ADDRESS) ledger.account(operator, { operated: 1n });
}

function challenged(ledger: Ledger, { args }: EventOf<"Challenged">, entry: ClaimEntry | undefined): void {
  if (entry === undefined) return;
  const { modelId, ticketBond } = entry.claim;
  ledger.total({ received: ticketBond, tickets: ticketBond });
  ledger.add("challenger", pairOf(modelId, args.challenger), { tickets: 1n });
  ledger.account(
    args.challenger,
    { tickets: 1n, ticketsLive: 1n, ticketsHeld: ticketBond },
    { paidIn: ticketBond },
  );
}

/** Bond and tickets of a claim that ended leave what is held for live ones. */
function release(ledger: Ledger, { claim, challengers }: ClaimEntry): bigint {
  const tickets = BigInt(challengers.size);
  ledger.total({ bonds: -claim.bond, tickets: -claim.ticketBond * tickets });
  return tickets;
}

function fell(ledger: Ledger, { args }: EventOf<"Fell">, entry: ClaimEntry | undefined, time: number): void {
  if (entry === undefined) return;
  const { claim, challengers } = entry;
  const reason = FALL_REASONS[args.reason] ?? "NONE";
  const payout = fallPayout(claim, challengers.size, reason === "TRUTH");
  const tickets = release(ledger, entry);
  ledger.total({
    uncollected: payout.ticket * tickets,
    burned: payout.burned,
    burnedEver: payout.burned,
    "claim:ACTIVE": -1n,
    "claim:FALLEN": 1n,
    [`fall:${reason}`]: 1n,
    // A truth that made it fall settles the request by the next event.
    "request:BUSY": -1n,
    "request:OPEN": 1n,
  });
  ledger.day({ falls: 1n, burned: payout.burned });
  ledger.add("model", claim.modelId, { falls: 1n });
  ledger.add("prover", pairOf(claim.modelId, claim.prover), { falls: 1n });
  ledger.account(
    claim.prover,
    { liveClaims: -1n, bondsHeld: -claim.bond, [`fall:${reason}`]: 1n },
    { falls: 1n, result: -claim.bond },
    { fellAt: BigInt(time) },
  );
  for (const owner of challengers) {
    ledger.account(
      owner,
      { ticketsLive: -1n, ticketsWon: 1n, ticketsHeld: -claim.ticketBond, uncollected: payout.ticket },
      { result: payout.share },
    );
  }
}

/** @param seconds since the request */
function finalized(ledger: Ledger, { args }: EventOf<"Finalized">, index: ClaimIndex, seconds: number): void {
  const entry = requestIn(index, args.requestId);
  const { fee, requester, modelId } = entry.request;
  const lane = laneName(args.lane) ?? `${args.lane}`;
  ledger.total({ fees: -fee, "request:DONE": 1n });
  ledger.day({ [`final:${lane}`]: 1n });
  const wait = { seconds: BigInt(seconds) };
  ledger.add("lane", lane, { finals: 1n, ...wait }, wait);
  ledger.add("modelLane", `${modelId}:${lane}`, { finals: 1n, ...wait }, wait);
  ledger.account(requester, { feesHeld: -fee }, { result: -fee });
  const winner = index.claims.get(args.claimId);
  if (winner === undefined) {
    ledger.total({ "request:OPEN": -1n });
    rewarded(ledger, entry, index);
    return;
  }
  const { claim, challengers } = winner;
  const payout = finalPayout(claim, challengers.size, fee);
  release(ledger, winner);
  ledger.total({
    ...{ burned: payout.burned, burnedEver: payout.burned },
    ...{ "request:BUSY": -1n, "claim:ACTIVE": -1n, "claim:FINAL": 1n },
  });
  ledger.day({ burned: payout.burned });
  ledger.account(
    claim.prover,
    { liveClaims: -1n, finalClaims: 1n, bondsHeld: -claim.bond },
    { result: payout.prover - claim.bond },
  );
  for (const owner of challengers) {
    ledger.account(
      owner,
      { ticketsLive: -1n, ticketsLost: 1n, ticketsHeld: -claim.ticketBond },
      { result: -claim.ticketBond },
    );
  }
}

/** Whoever brought the truth earns the fee, and a share of the bond of a claim that it contradicts. */
function rewarded(ledger: Ledger, { id, request, settled }: RequestEntry, index: ClaimIndex): void {
  if (settled === undefined) return;
  const refuted = index.claimsOf(id).find(({ fall }) => fall?.reason === "TRUTH");
  const share = refuted === undefined ? 0n : fallPayout(refuted.claim, refuted.challengers.size, true).share;
  ledger.account(settled.submitter, {}, { result: request.fee + share });
}

function delivered(ledger: Ledger, by: Address, { request }: RequestEntry): void {
  const { deliveryFee, requester } = request;
  ledger.total({ fees: -deliveryFee });
  ledger.account(requester, { feesHeld: -deliveryFee }, { result: -deliveryFee });
  ledger.account(by, {}, { result: deliveryFee });
}

/** A transaction that made events: its sender paid for it. Gas is counted by model and lane where it made an output a
 *  claim, or final.
 *  @param events of the transaction */
export function transactionDeltas(
  { sender, gasUsed, fee, block }: TransactionFacts,
  time: number,
  events: readonly (ChainEvent | PromiseEvent)[],
  modelOf: (event: ChainEvent | PromiseEvent) => Hex | undefined,
): Delta[] {
  const ledger = new Ledger(firstOf(block), time);
  ledger.total({ transactions: 1n, gasUsed: BigInt(gasUsed), transactionFees: fee });
  ledger.day({ transactions: 1n, gasUsed: BigInt(gasUsed), transactionFees: fee });
  ledger.account(sender, { transactions: 1n }, { transactionFees: fee, result: -fee });
  const outcomes = events.flatMap((event) => {
    const lane =
      event.name === "Claimed" ? LANE.BOND : event.name === "Settled" ? event.args.lane : undefined;
    return lane === undefined ? [] : [{ lane, model: modelOf(event) }];
  });
  for (const { lane, model } of outcomes) {
    // One of a batch took its part.
    const gas = BigInt(Math.round(gasUsed / outcomes.length));
    const use = [{ count: 1n, gas }, { gas }] as const;
    ledger.add("lane", laneName(lane) ?? `${lane}`, ...use);
    if (model !== undefined) ledger.add("modelLane", `${model}:${laneName(lane) ?? lane}`, ...use);
  }
  const leaves = events.reduce(
    (sum, event) => sum + (event.name === "Posted" ? event.args.batch.count : 0),
    0,
  );
  if (leaves > 0) {
    const gas = BigInt(gasUsed);
    ledger.add("lane", BATCHED, { count: BigInt(leaves), gas }, { gas: gas / BigInt(leaves) });
  }
  return ledger.deltas;
}

function requestIn(index: ClaimIndex, id: Hex): RequestEntry {
  const entry = index.requests.get(id as RequestEntry["id"]);
  if (entry === undefined) throw new TypeError(`The events of request ${id} are not all here.`);
  return entry;
}
