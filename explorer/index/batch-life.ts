/** A batch and its leaves as one row, from the events that tell of them. Pure. */
import { type Address, type Hex, size } from "viem";
import type { PromiseEventOf } from "../../protocol/chain/promises/events.ts";
import type { Delta } from "./deltas.ts";
import { seqOf } from "./moves.ts";
import { type ClosedClaim, PromiseLedger, type TimedPromise } from "./promise-deltas.ts";

/** A leaf that somebody opened. */
export interface LeafRow {
  readonly index: number;
  /** DROPPED: its batch fell while it waited */
  readonly status: "QUEUED" | "OPEN" | "STOOD" | "FELL" | "DROPPED";
  readonly opener: Address;
  /** wei, decimal */
  readonly deposit: string;
  readonly shownAt: number;
  readonly claimId?: Hex;
  readonly endedAt?: number;
}

export interface BatchRow {
  readonly batchId: Hex;
  readonly seq: number;
  readonly tx: Hex;
  readonly prover: Address;
  readonly modelId: Hex;
  /** seconds */
  readonly window: number;
  /** leaves */
  readonly count: number;
  readonly root: Hex;
  /** wei behind each leaf that is opened, decimal */
  readonly bond: string;
  /** of the data */
  readonly bytes: number;
  readonly postedAt: number;
  readonly windowEnd: number;
  /** first second in which it is final unless a leaf is opened; absent while one is open, and of one that fell */
  readonly finalAt?: number;
  readonly fellAt?: number;
  /** in the order in which they were opened */
  readonly leaves: readonly LeafRow[];
}

export interface BatchLife {
  /** absent: there is no such batch, or no more */
  readonly row?: BatchRow;
  readonly deltas: readonly Delta[];
  /** seqs of the events that took a deposit */
  readonly paid: readonly number[];
}

/** @param events of one batch, in chain order
 *  @param isNew whether an event's counts and amounts are wanted: it was not seen before
 *  @param claimOf a claim that is over */
export function batchLifeOf(
  events: readonly TimedPromise[],
  isNew: (event: TimedPromise) => boolean,
  claimOf: (id: Hex) => ClosedClaim,
): BatchLife {
  const leaves = new Map<number, LeafRow>();
  let posted: { readonly event: PromiseEventOf<"Posted">; readonly time: number } | undefined;
  let fellAt: number | undefined;
  let lastEnd = 0;
  const deltas: Delta[] = [];
  const paid: number[] = [];
  for (const timed of events) {
    const { event, time } = timed;
    const ledger = new PromiseLedger(timed);
    const { name, args } = event;
    if (name === "Posted") {
      posted = { event, time };
      ledger.posted(event);
    }
    if (name === "LeafQueued" || name === "LeafOpened") {
      const index = Number(args.index);
      const before = leaves.get(index);
      if (before === undefined) {
        ledger.shown(args.opener, args.deposit);
        paid.push(seqOf(event.block.number, event.logIndex));
      }
      leaves.set(index, {
        ...{ index, opener: args.opener, deposit: `${args.deposit}`, shownAt: before?.shownAt ?? time },
        ...(name === "LeafQueued"
          ? { status: "QUEUED" as const }
          : { status: "OPEN" as const, claimId: args.claimId }),
      });
    }
    if (name === "LeafDropped") {
      const leaf = leaves.get(Number(args.index));
      if (leaf !== undefined) {
        ledger.takenBack(leaf.opener, BigInt(leaf.deposit));
        leaves.set(leaf.index, { ...leaf, status: "DROPPED", endedAt: time });
      }
    }
    if (name === "Closed" && posted !== undefined) {
      const leaf = [...leaves.values()].find(({ claimId }) => claimId === args.claimId);
      if (leaf !== undefined) {
        const prover = posted.event.args.prover;
        const claim = isNew(timed) ? claimOf(args.claimId) : undefined;
        if (claim !== undefined)
          ledger.closed({ prover, claim, opener: leaf.opener, deposit: BigInt(leaf.deposit) }, args.fallen);
        leaves.set(leaf.index, { ...leaf, status: args.fallen ? "FELL" : "STOOD", endedAt: time });
        lastEnd = time;
        if (args.fallen && fellAt === undefined) {
          fellAt = time;
          ledger.batchFell(prover);
        }
      }
    }
    if (isNew(timed)) deltas.push(...ledger.deltas);
  }
  if (posted === undefined) return { deltas, paid };
  const { event, time } = posted;
  const { batchId, batch, bond, windowEnd, data } = event.args;
  const isOpen = [...leaves.values()].some(({ status }) => status === "QUEUED" || status === "OPEN");
  const row: BatchRow = {
    batchId,
    seq: seqOf(event.block.number, event.logIndex),
    tx: event.transactionHash,
    prover: batch.prover,
    modelId: batch.modelId,
    window: batch.window,
    count: batch.count,
    root: batch.root,
    bond: `${bond}`,
    bytes: size(data),
    postedAt: time,
    windowEnd,
    ...(isOpen || fellAt !== undefined ? {} : { finalAt: Math.max(windowEnd, lastEnd) }),
    ...(fellAt === undefined ? {} : { fellAt }),
    leaves: [...leaves.values()],
  };
  return { row, deltas, paid };
}
