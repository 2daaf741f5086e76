/** An event as one row: who moved, and what money it moved into or out of the contract's books. Pure. */
import type { Address, Hex } from "viem";
import { describeEvent } from "../../protocol/chain/describe.ts";
import { type ChainEvent, subjectOf } from "../../protocol/chain/events.ts";
import { describePromiseEvent } from "../../protocol/chain/promises/describe.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import type { Claim, ModelId, RequestId } from "../../protocol/rules/types.ts";

/** An event with the time of its block, seconds since 1970. */
export interface TimedEvent {
  readonly event: ChainEvent;
  readonly time: number;
}

/** Log indices that one block has at most; a block number times this stays below 2^53 for 2^33 blocks. */
const PLACES = 2 ** 20;
/** Where an event stands among all, in one number. */
export const seqOf = (block: bigint | number, logIndex: number): number => Number(block) * PLACES + logIndex;
/** First place of a block. */
export const firstOf = (block: bigint | number): number => seqOf(block, 0);
export const blockOf = (seq: number): number => Math.floor(seq / PLACES);
export const logIndexOf = (seq: number): number => seq % PLACES;

export interface Money {
  readonly account: Address;
  /** wei; above 0: to the account */
  readonly amount: bigint;
  readonly kind: "fee" | "bond" | "ticket" | "credit" | "withdrawal" | "stake" | "deposit";
}

export interface Move {
  readonly seq: number;
  readonly name: string;
  readonly tx: Hex;
  readonly requestId?: RequestId;
  readonly claimId?: Hex;
  readonly modelId?: ModelId;
  /** of the promise: a batch, or the digest of a signed claim */
  readonly batchId?: Hex;
  readonly digest?: Hex;
  readonly account?: Address;
  /** absent: Assay, or its registry */
  readonly contract?: "promises";
  readonly text: string;
  readonly money: readonly Money[];
  readonly args: Readonly<Record<string, unknown>>;
}

/** @param claim that the event is about, as it was filed; absent for events of something else */
export function moveOf(
  event: ChainEvent,
  about: { readonly claim?: Claim | undefined; readonly modelId?: ModelId | undefined },
): Move {
  const { requestId = about.claim?.requestId, claimId } = subjectOf(event);
  const modelId = "modelId" in event.args ? event.args.modelId : about.modelId;
  const account = accountOf(event);
  return {
    seq: seqOf(event.block.number, event.logIndex),
    name: event.name,
    tx: event.transactionHash,
    ...(requestId === undefined ? {} : { requestId }),
    ...(claimId === undefined || BigInt(claimId) === 0n ? {} : { claimId }),
    ...(modelId === undefined ? {} : { modelId }),
    ...(account === undefined ? {} : { account }),
    text: describeEvent(event),
    money: moneyOf(event, about.claim),
    args: smallArgs(event),
  };
}

/** @param about what is known of the promise that the event is about; `isPaid`: the event took its deposit */
export function promiseMoveOf(
  event: PromiseEvent,
  about: Pick<Move, "requestId" | "modelId" | "batchId" | "digest"> & { readonly isPaid?: boolean } = {},
): Move {
  const { args, name } = event;
  const { isPaid = false, ...ids } = about;
  const account = promiseAccountOf(event);
  return {
    seq: seqOf(event.block.number, event.logIndex),
    name,
    tx: event.transactionHash,
    ...ids,
    ...("claimId" in args ? { claimId: args.claimId } : {}),
    ...(account === undefined ? {} : { account }),
    contract: "promises",
    text: describePromiseEvent(event),
    money: promiseMoneyOf(event, isPaid),
    args: smallArgs(event),
  };
}

/** Who moved, or whose stake or credit it is. */
function promiseAccountOf({ name, args }: PromiseEvent): Address | undefined {
  if ("opener" in args) return args.opener;
  if ("prover" in args) return args.prover;
  return name === "Credited" || name === "Withdrawn" ? args.account : undefined;
}

function promiseMoneyOf({ name, args }: PromiseEvent, isPaid: boolean): Money[] {
  switch (name) {
    case "Deposited":
      return moved(args.from, -args.amount, "stake");
    case "Exited":
      return moved(args.to, args.amount, "stake");
    case "Queued":
    case "Opened":
    case "LeafQueued":
    case "LeafOpened":
      return isPaid ? moved(args.opener, -args.deposit, "deposit") : [];
    case "Credited":
      return moved(args.account, args.amount, "credit");
    case "Withdrawn":
      return moved(args.to, args.amount, "withdrawal");
    default:
      return [];
  }
}

function accountOf(event: ChainEvent): Address | undefined {
  switch (event.name) {
    case "Requested":
      return event.args.request.requester;
    case "Claimed":
      return event.args.claim.prover;
    case "Challenged":
    case "Demanded":
      return event.args.challenger;
    case "Settled":
      return event.args.submitter;
    case "Delivered":
      return event.args.by;
    case "Collected":
      return event.args.owner;
    case "Credited":
    case "Withdrawn":
      return event.args.account;
    default:
      return undefined;
  }
}

function moneyOf(event: ChainEvent, claim: Claim | undefined): Money[] {
  switch (event.name) {
    case "Requested": {
      const { requester, fee, deliveryFee } = event.args.request;
      return moved(requester, -(fee + deliveryFee), "fee");
    }
    case "Claimed":
      return moved(event.args.claim.prover, -event.args.claim.bond, "bond");
    case "Challenged":
      return claim === undefined ? [] : moved(event.args.challenger, -claim.ticketBond, "ticket");
    case "Credited":
      return moved(event.args.account, event.args.amount, "credit");
    case "Withdrawn":
      return moved(event.args.account, event.args.amount, "withdrawal");
    default:
      return [];
  }
}

const moved = (account: Address, amount: bigint, kind: Money["kind"]): Money[] =>
  amount === 0n ? [] : [{ account, amount, kind }];

/** Longest argument that is kept with a move, hex digits: everything else stands in the event. */
const MAX_DIGITS = 66;

/** What is left out is long: inputs, outputs, contents. */
function smallArgs({ args }: ChainEvent | PromiseEvent): Record<string, unknown> {
  const isSmall = (value: unknown): boolean =>
    Array.isArray(value) ? false : typeof value !== "string" || value.length <= MAX_DIGITS;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => isSmall(value)));
}
