/** A signed claim that somebody opened as one row, from the events that tell of it. Pure. */
import type { Address, Hex } from "viem";
import type { SignedClaim } from "../../protocol/rules/promises/signed-claim.ts";
import type { Delta } from "./deltas.ts";
import { seqOf } from "./moves.ts";
import { type ClosedClaim, PromiseLedger, type TimedPromise } from "./promise-deltas.ts";

export const SIGNED_STATES = ["QUEUED", "OPEN", "STOOD", "FELL", "TAKEN_BACK"] as const;

export interface SignedRow {
  readonly digest: Hex;
  /** of the event by which the chain saw it first */
  readonly seq: number;
  /** STOOD, FELL: its claim is over */
  readonly state: (typeof SIGNED_STATES)[number];
  /** as it was signed; minBond (wei) and salt are decimal */
  readonly signed: Omit<SignedClaim, "minBond" | "salt"> & {
    readonly minBond: string;
    readonly salt: string;
  };
  readonly opener: Address;
  /** wei, decimal */
  readonly deposit: string;
  readonly shownAt: number;
  /** seq of the event by which it joined the queue last; absent: it does not wait */
  readonly joined?: number;
  /** since when it has been the head of the queue and too dear, with all stake at home */
  readonly tooDearSince?: number;
  /** how often it went to the end of its queue */
  readonly passes: number;
  readonly claimId?: Hex;
  readonly endedAt?: number;
}

export interface SignedLife {
  /** absent: the chain does not know it, or no more */
  readonly row?: SignedRow;
  readonly deltas: readonly Delta[];
  /** seqs of the events that took a deposit */
  readonly paid: readonly number[];
}

/** @param events of one signed claim, in chain order
 *  @param isNew whether an event's counts and amounts are wanted: it was not seen before
 *  @param claimOf a claim that is over */
export function signedLifeOf(
  events: readonly TimedPromise[],
  isNew: (event: TimedPromise) => boolean,
  claimOf: (id: Hex) => ClosedClaim,
): SignedLife {
  let row: SignedRow | undefined;
  const deltas: Delta[] = [];
  const paid: number[] = [];
  for (const timed of events) {
    const ledger = new PromiseLedger(timed);
    if (isShown(timed, row)) paid.push(placeOf(timed));
    row = next(row, timed, ledger, isNew(timed) ? claimOf : undefined);
    if (isNew(timed)) deltas.push(...ledger.deltas);
  }
  return { ...(row === undefined ? {} : { row }), deltas, paid };
}

const placeOf = ({ event }: TimedPromise): number => seqOf(event.block.number, event.logIndex);
/** Whether somebody opens it here, who puts a deposit down: what waits becomes a claim later by itself. */
const isShown = ({ event: { name } }: TimedPromise, before: SignedRow | undefined): boolean =>
  name === "Queued" || (name === "Opened" && before?.state !== "QUEUED");

function next(
  row: SignedRow | undefined,
  timed: TimedPromise,
  ledger: PromiseLedger,
  claimOf: ((id: Hex) => ClosedClaim) | undefined,
): SignedRow | undefined {
  const { time } = timed;
  const { name, args } = timed.event;
  const seq = placeOf(timed);
  if (name === "Queued" || name === "Opened") {
    const { minBond, salt, ...rest } = args.signed;
    if (isShown(timed, row)) ledger.shown(args.opener, args.deposit);
    if (row === undefined) ledger.signedOpened(rest.prover);
    const { digest, opener, deposit } = args;
    return {
      ...{ digest, seq: row?.seq ?? seq, signed: { ...rest, minBond: `${minBond}`, salt: `${salt}` } },
      ...{ opener, deposit: `${deposit}`, shownAt: row?.shownAt ?? time, passes: row?.passes ?? 0 },
      ...(name === "Queued" ? { state: "QUEUED", joined: seq } : { state: "OPEN", claimId: args.claimId }),
    };
  }
  if (row === undefined) return undefined;
  const { joined, tooDearSince: _, ...rest } = row;
  switch (name) {
    case "HeadTooDear":
      return { ...row, tooDearSince: time };
    case "Passed":
      return { ...rest, joined: seq, passes: row.passes + 1 };
    case "TakenBack":
      ledger.takenBack(row.opener, BigInt(row.deposit));
      return { ...rest, state: "TAKEN_BACK", endedAt: time };
    case "Closed": {
      const { prover } = row.signed;
      const claim = claimOf?.(args.claimId);
      if (claim !== undefined)
        ledger.closed({ prover, claim, opener: row.opener, deposit: BigInt(row.deposit) }, args.fallen);
      if (args.fallen) ledger.signedFell(prover);
      return { ...rest, state: args.fallen ? "FELL" : "STOOD", endedAt: time };
    }
    default:
      return row;
  }
}
