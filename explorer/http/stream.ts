/** GET /v1/stream: what is indexed, as it comes. */
import type { Request, Response } from "express";
import { BaseError } from "../../base/errors.ts";
import {
  type EventStream,
  openEventStream,
  type ServerEvent,
} from "../../protocol/service/http/event-stream.ts";
import { addressOf } from "../../protocol/service/http/service.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import type { Change } from "../index/explorer-index.ts";
import { seqOf } from "../index/moves.ts";
import { eventView } from "../read/events.ts";
import { headOf } from "../read/overview.ts";
import type { ReadParts } from "../read/parts.ts";

/** Events that are told again to who comes back; of more he reads the state anew. */
const MAX_AGAIN = 1_000;
const MAX_STREAMS = 512;
const MAX_STREAMS_OF_ONE = 32;

export class Stream {
  readonly #parts: ReadParts;
  readonly #slots: Slots;
  readonly #listeners = new Set<EventStream>();

  constructor(parts: ReadParts) {
    this.#parts = parts;
    this.#slots = new Slots({
      what: "streams",
      limit: MAX_STREAMS,
      perKey: MAX_STREAMS_OF_ONE,
      nowMs: parts.nowMs,
    });
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Sends everybody what a batch changed. */
  emit(change: Change): void {
    if (this.#listeners.size === 0) return;
    for (const event of this.#eventsOf(change)) for (const listener of this.#listeners) listener.send(event);
  }

  /** @throws BaseError LAST_EVENT_ID_INVALID, TOO_BUSY, TOO_MANY_OF_ONE */
  answer(request: Request, response: Response): void {
    const after = lastEventId(request);
    const giveBack = this.#slots.take(addressOf(request));
    const stream = openEventStream(response);
    stream.signal.addEventListener("abort", () => {
      this.#listeners.delete(stream);
      giveBack();
    });
    // What is told again and what comes next are read in one turn: nothing can come between.
    for (const event of after === undefined ? [this.#head()] : this.#since(after)) stream.send(event);
    this.#listeners.add(stream);
  }

  /** Ends all streams. */
  close(): void {
    for (const listener of [...this.#listeners]) listener.end();
  }

  #eventsOf(change: Change): ServerEvent[] {
    if (change.kind === "rollback") return [{ event: "rollback", data: { ancestor: change.ancestor } }];
    const [first, last] = [change.moves[0], change.moves.at(-1)];
    if (first === undefined || last === undefined) return [this.#head()];
    if (change.moves.length > MAX_AGAIN) return [this.#reset()];
    return [...this.#between(first.seq, last.seq), this.#head()];
  }

  #since({ block, logIndex, hash }: EventPlace): ServerEvent[] {
    const { tables } = this.#parts.index;
    const seq = seqOf(block, logIndex);
    const [seen] = tables.moves("m.seq = ?", "LIMIT 1", [seq]);
    if (seen === undefined || seen.blockHash.slice(2, 18) !== hash) return [this.#reset()];
    const missed = this.#between(seq + 1, Number.MAX_SAFE_INTEGER);
    return missed.length > MAX_AGAIN ? [this.#reset()] : [...missed, this.#head()];
  }

  #between(first: number, last: number): ServerEvent[] {
    return this.#parts.index.tables
      .moves("m.seq BETWEEN ? AND ?", "ORDER BY m.seq LIMIT ?", [first, last, MAX_AGAIN + 1])
      .map((move) => {
        const data = eventView(move);
        return { id: data.id, event: "event", data };
      });
  }

  #head(): ServerEvent {
    return { event: "head", data: headOf(this.#parts).head ?? {} };
  }

  #reset(): ServerEvent {
    return { event: "reset", data: headOf(this.#parts) };
  }
}

interface EventPlace {
  readonly block: number;
  readonly logIndex: number;
  /** first 16 digits of the block's */
  readonly hash: string;
}

function lastEventId(request: Request): EventPlace | undefined {
  const given = request.get("Last-Event-ID");
  if (given === undefined || given === "") return undefined;
  const [, block, logIndex, hash] = /^(\d{1,10})-(\d{1,7})-([0-9a-f]{16})$/.exec(given) ?? [];
  if (block !== undefined && logIndex !== undefined && hash !== undefined)
    return { block: Number(block), logIndex: Number(logIndex), hash };
  throw new BaseError({
    code: "LAST_EVENT_ID_INVALID",
    shortMessage: `Last-Event-ID is ${JSON.stringify(given.slice(0, 60))}, no id of an event of this stream.`,
    nextStep: "Send the id of the last event that you saw, or none.",
  });
}
