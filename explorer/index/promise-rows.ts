/** Keeps the rows of batches and signed claims in step with the events of Promises. */
import type { Hex } from "viem";
import { type PromiseEvent, subjectOf } from "../../protocol/chain/promises/events.ts";
import type { BatchId } from "../../protocol/rules/promises/batch.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { batchLifeOf } from "./batch-life.ts";
import type { Delta } from "./deltas.ts";
import type { KeptEvents } from "./kept-events.ts";
import { type Move, promiseMoveOf, seqOf } from "./moves.ts";
import { accountDeltasOf, type ClosedClaim, countOf, type TimedPromise } from "./promise-deltas.ts";
import { signedLifeOf } from "./signed-life.ts";
import type { Tables } from "./tables.ts";

type Promised = Digest | BatchId;

export class PromiseRows {
  readonly #tables: Tables;
  readonly #events: KeptEvents;

  constructor(tables: Tables, events: KeptEvents) {
    this.#tables = tables;
    this.#events = events;
  }

  /** Takes new events, which are kept already; those of Assay's claims are taken before.
   *  @param first seq from which on events are new */
  async extend(
    events: readonly TimedPromise[],
    first: number,
  ): Promise<{ readonly moves: readonly Move[]; readonly deltas: readonly Delta[] }> {
    const subjects = new Set(events.flatMap(({ event }) => subjectOf(event) ?? []));
    const derived = await Promise.all([...subjects].map((id) => this.derive(id, first)));
    const paid = new Set(derived.flatMap(({ paid }) => paid));
    const ofAccounts = events.filter(({ event }) => subjectOf(event) === undefined);
    return {
      moves: await Promise.all(events.map(({ event }) => this.#moveOf(event, paid))),
      deltas: [
        ...events.flatMap(countOf),
        ...derived.flatMap(({ deltas }) => deltas),
        ...ofAccounts.flatMap(accountDeltasOf),
      ],
    };
  }

  /** Writes the row of a promise anew. @param since seq from which on events are new
   *  @returns what those add, and the places of those that took a deposit */
  async derive(
    id: Promised,
    since: number,
  ): Promise<{ readonly deltas: readonly Delta[]; readonly paid: readonly number[] }> {
    const events = await this.#events.ofPromise(id);
    const isNew = ({ event }: TimedPromise): boolean => placeOf(event) >= since;
    const closed = await this.#closed(events.filter(isNew));
    const claimOf = (claim: Hex): ClosedClaim => {
      const found = closed.get(claim);
      if (found === undefined) throw new TypeError(`The events of claim ${claim} are not all here.`);
      return found;
    };
    const isBatch = events.some(({ event }) => "batchId" in event.args);
    const isSigned = events.some(({ event }) => "digest" in event.args);
    // Of one that is gone nothing says which it was.
    const batch = isSigned ? undefined : batchLifeOf(events, isNew, claimOf);
    const signed = isBatch ? undefined : signedLifeOf(events, isNew, claimOf);
    if (batch !== undefined) await this.#tables.putBatch(id, batch.row);
    if (signed !== undefined) await this.#tables.putSigned(id, signed.row);
    return {
      deltas: [...(batch?.deltas ?? []), ...(signed?.deltas ?? [])],
      paid: [...(batch?.paid ?? []), ...(signed?.paid ?? [])],
    };
  }

  async #moveOf(event: PromiseEvent, paid: ReadonlySet<number>): Promise<Move> {
    const id = subjectOf(event);
    const none = Promise.resolve(undefined);
    const [batch, signed, requestId] = await Promise.all([
      id === undefined ? none : this.#tables.batch(id),
      id === undefined ? none : this.#tables.signed(id),
      "claimId" in event.args ? this.#tables.requestOfClaim(event.args.claimId) : none,
    ]);
    const modelId = batch?.modelId ?? signed?.signed.modelId;
    return promiseMoveOf(event, {
      ...(batch === undefined ? {} : { batchId: batch.batchId }),
      ...(signed === undefined ? {} : { digest: signed.digest }),
      ...(modelId === undefined ? {} : { modelId: modelId as NonNullable<Move["modelId"]> }),
      ...(requestId === undefined ? {} : { requestId }),
      isPaid: paid.has(placeOf(event)),
    });
  }

  /** The claims that these events close: a promise is closed after its claim is over. */
  async #closed(events: readonly TimedPromise[]): Promise<ReadonlyMap<Hex, ClosedClaim>> {
    const ids = events.flatMap(({ event }) =>
      event.name === "Closed" ? [event.args.claimId as ClaimId] : [],
    );
    const lives = await Promise.all(ids.map((id) => this.#events.ofClaim(id)));
    return new Map(
      lives.flatMap((life, i): [Hex, ClosedClaim][] => {
        const claimed = life.find(({ event }) => event.name === "Claimed")?.event;
        if (claimed?.name !== "Claimed") return [];
        const owners = life.flatMap(({ event }) =>
          event.name === "Challenged" ? [event.args.challenger] : [],
        );
        return [[ids[i] as Hex, { claim: claimed.args.claim, tickets: new Set(owners).size }]];
      }),
    );
  }
}

const placeOf = (event: PromiseEvent): number => seqOf(event.block.number, event.logIndex);
