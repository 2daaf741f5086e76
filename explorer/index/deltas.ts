/** What an event adds to counts and amounts, by account, model, lane and day. Pure. All amounts in wei. */
import type { Address, Hex } from "viem";
import type { ClaimEntry, ClaimIndex, RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { ChainEvent, EventOf } from "../../protocol/chain/events.ts";
import { laneName } from "../../protocol/chain/finality.ts";
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
export const dayOf = (time: number): number => time - (time % DAY);
/** Id of a sum of an account on one model. */
export const pairOf = (model: Hex, account: Address): string => `${model}:${account}`;

/** Adds under one event. */
class Book {
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
  const book = new Book(seqOf(event.block.number, event.logIndex), time);
  book.total({ events: 1n });
  switch (event.name) {
    case "ModelRegistered":
      book.total({ models: 1n });
      break;
    case "Requested":
      requested(book, event);
      break;
    case "Claimed":
      claimed(book, event);
      break;
    case "Challenged":
      challenged(book, event, index.claims.get(event.args.claimId));
      break;
    case "Fell":
      fell(book, event, index.claims.get(event.args.claimId), time);
      break;
    case "Settled":
      book.account(event.args.submitter, { settled: 1n });
      break;
    case "Finalized":
      finalized(book, event, index, time - requestedAt);
      break;
    case "Refunded": {
      const { fee, deliveryFee, requester } = requestIn(index, event.args.requestId).request;
      const back = fee + deliveryFee;
      book.total({ fees: -back, "request:OPEN": -1n, "request:REFUNDED": 1n });
      book.account(requester, { feesHeld: -back, paidFees: -back });
      break;
    }
    case "Delivered":
      if (event.args.success) delivered(book, event.args.by, requestIn(index, event.args.requestId));
      break;
    case "DeliveryReclaimed": {
      const { deliveryFee, requester } = requestIn(index, event.args.requestId).request;
      book.total({ fees: -deliveryFee });
      book.account(requester, { feesHeld: -deliveryFee, paidFees: -deliveryFee });
      break;
    }
    case "Collected": {
      const { owner, amount } = event.args;
      book.total({ uncollected: -amount });
      book.account(owner, { uncollected: -amount });
      break;
    }
    case "Credited": {
      const { account, amount } = event.args;
      book.total({ credits: amount });
      book.account(account, { credit: amount }, { credited: amount });
      break;
    }
    case "Withdrawn": {
      const { account, amount } = event.args;
      book.total({ credits: -amount, withdrawn: amount });
      book.account(account, { credit: -amount, withdrawn: amount });
      break;
    }
    case "Burned":
      book.total({ burned: -event.args.amount, pulled: event.args.amount });
      break;
    default:
  }
  return book.deltas;
}

function requested(book: Book, { args }: EventOf<"Requested">): void {
  const { requester, modelId, fee, deliveryFee } = args.request;
  const value = fee + deliveryFee;
  book.total({ received: value, fees: value, "request:OPEN": 1n });
  book.day({ requests: 1n, fees: value });
  book.add("model", modelId, { requests: 1n });
  book.account(requester, { requests: 1n, feesHeld: value, paidFees: value }, { paidIn: value });
}

function claimed(book: Book, { args }: EventOf<"Claimed">): void {
  const { prover, operator, modelId, bond } = args.claim;
  book.total({ received: bond, bonds: bond, "request:OPEN": -1n, "request:BUSY": 1n, "claim:ACTIVE": 1n });
  book.day({ claims: 1n, bonds: bond });
  book.add("model", modelId, { claims: 1n });
  book.add("prover", pairOf(modelId, prover), { claims: 1n });
  book.account(prover, { liveClaims: 1n, bondsHeld: bond }, { claims: 1n, paidIn: bond });
  if (operator !== ZERO_ADDRESS) book.account(operator, { operated: 1n });
}

function challenged(book: Book, { args }: EventOf<"Challenged">, entry: ClaimEntry | undefined): void {
  if (entry === undefined) return;
  const { modelId, ticketBond } = entry.claim;
  book.total({ received: ticketBond, tickets: ticketBond });
  book.add("challenger", pairOf(modelId, args.challenger), { tickets: 1n });
  book.account(
    args.challenger,
    { tickets: 1n, ticketsLive: 1n, ticketsHeld: ticketBond },
    { paidIn: ticketBond },
  );
}

/** Bond and tickets of a claim that ended leave what is held for live ones. */
function release(book: Book, { claim, challengers }: ClaimEntry): bigint {
  const tickets = BigInt(challengers.size);
  book.total({ bonds: -claim.bond, tickets: -claim.ticketBond * tickets });
  return tickets;
}

function fell(book: Book, { args }: EventOf<"Fell">, entry: ClaimEntry | undefined, time: number): void {
  if (entry === undefined) return;
  const { claim, challengers } = entry;
  const reason = FALL_REASONS[args.reason] ?? "NONE";
  const payout = fallPayout(claim, challengers.size, reason === "TRUTH");
  const tickets = release(book, entry);
  book.total({
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
  book.day({ falls: 1n, burned: payout.burned });
  book.add("model", claim.modelId, { falls: 1n });
  book.add("prover", pairOf(claim.modelId, claim.prover), { falls: 1n });
  book.account(
    claim.prover,
    { liveClaims: -1n, bondsHeld: -claim.bond, [`fall:${reason}`]: 1n },
    { falls: 1n, result: -claim.bond },
    { fellAt: BigInt(time) },
  );
  for (const owner of challengers) {
    book.account(
      owner,
      { ticketsLive: -1n, ticketsWon: 1n, ticketsHeld: -claim.ticketBond, uncollected: payout.ticket },
      { result: payout.share },
    );
  }
}

/** @param seconds since the request */
function finalized(book: Book, { args }: EventOf<"Finalized">, index: ClaimIndex, seconds: number): void {
  const entry = requestIn(index, args.requestId);
  const { fee, requester, modelId } = entry.request;
  const lane = laneName(args.lane) ?? `${args.lane}`;
  book.total({ fees: -fee, "request:DONE": 1n });
  book.day({ [`final:${lane}`]: 1n });
  const wait = { seconds: BigInt(seconds) };
  book.add("lane", lane, { finals: 1n, ...wait }, wait);
  book.add("modelLane", `${modelId}:${lane}`, { finals: 1n, ...wait }, wait);
  book.account(requester, { feesHeld: -fee }, { result: -fee });
  const winner = index.claims.get(args.claimId);
  if (winner === undefined) {
    book.total({ "request:OPEN": -1n });
    rewarded(book, entry, index);
    return;
  }
  const { claim, challengers } = winner;
  const payout = finalPayout(claim, challengers.size, fee);
  release(book, winner);
  book.total({
    ...{ burned: payout.burned, burnedEver: payout.burned },
    ...{ "request:BUSY": -1n, "claim:ACTIVE": -1n, "claim:FINAL": 1n },
  });
  book.day({ burned: payout.burned });
  book.account(
    claim.prover,
    { liveClaims: -1n, finalClaims: 1n, bondsHeld: -claim.bond },
    { result: payout.prover - claim.bond },
  );
  for (const owner of challengers) {
    book.account(
      owner,
      { ticketsLive: -1n, ticketsLost: 1n, ticketsHeld: -claim.ticketBond },
      { result: -claim.ticketBond },
    );
  }
}

/** Whoever brought the truth earns the fee, and a share of the bond of a claim that it contradicts. */
function rewarded(book: Book, { id, request, settled }: RequestEntry, index: ClaimIndex): void {
  if (settled === undefined) return;
  const refuted = index.claimsOf(id).find(({ fall }) => fall?.reason === "TRUTH");
  const share = refuted === undefined ? 0n : fallPayout(refuted.claim, refuted.challengers.size, true).share;
  book.account(settled.submitter, {}, { result: request.fee + share });
}

function delivered(book: Book, by: Address, { request }: RequestEntry): void {
  const { deliveryFee, requester } = request;
  book.total({ fees: -deliveryFee });
  book.account(requester, { feesHeld: -deliveryFee }, { result: -deliveryFee });
  book.account(by, {}, { result: deliveryFee });
}

/** A transaction that made events: its sender paid for it. Gas is counted by model and lane where it made an output a
 *  claim, or final.
 *  @param events of the transaction */
export function transactionDeltas(
  { sender, gasUsed, fee, block }: TransactionFacts,
  time: number,
  events: readonly ChainEvent[],
  modelOf: (event: ChainEvent) => Hex | undefined,
): Delta[] {
  const book = new Book(firstOf(block), time);
  book.total({ transactions: 1n, gasUsed: BigInt(gasUsed), transactionFees: fee });
  book.day({ transactions: 1n, gasUsed: BigInt(gasUsed), transactionFees: fee });
  book.account(sender, { transactions: 1n }, { transactionFees: fee, result: -fee });
  const outcomes = events.flatMap((event) => {
    const lane =
      event.name === "Claimed" ? LANE.BOND : event.name === "Settled" ? event.args.lane : undefined;
    return lane === undefined ? [] : [{ lane, model: modelOf(event) }];
  });
  for (const { lane, model } of outcomes) {
    // One of a batch took its part.
    const gas = BigInt(Math.round(gasUsed / outcomes.length));
    const use = [{ count: 1n, gas }, { gas }] as const;
    book.add("lane", laneName(lane) ?? `${lane}`, ...use);
    if (model !== undefined) book.add("modelLane", `${model}:${laneName(lane) ?? lane}`, ...use);
  }
  return book.deltas;
}

function requestIn(index: ClaimIndex, id: Hex): RequestEntry {
  const entry = index.requests.get(id as RequestEntry["id"]);
  if (entry === undefined) throw new TypeError(`The events of request ${id} are not all here.`);
  return entry;
}
