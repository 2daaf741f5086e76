/** GET /v1/stream: what is indexed, as it comes. */
import type { Request, Response } from "express";
import { BaseError } from "../../base/errors.ts";
import { openEventStream } from "../../protocol/service/http/event-stream.ts";
import { addressOf } from "../../protocol/service/http/service.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import { seqOf } from "../index/moves.ts";
import type { Change } from "../index/write.ts";
import {
  headMessages,
  MAX_MESSAGES,
  messagesBetween,
  messagesOf,
  resetMessage,
  type StreamMessage,
} from "../read/changes.ts";
import { type AnswerParts, atOneBlock, type ReadParts } from "../read/parts.ts";

const MAX_STREAMS = 512;
const MAX_STREAMS_OF_ONE = 32;

/** Who listens. */
interface Listener {
  send(message: StreamMessage): void;
  end(): void;
}

export class Stream {
  readonly #parts: AnswerParts;
  readonly #slots: Slots;
  readonly #listeners = new Set<Listener>();
  /** a change could not be read, so that nobody was told */
  #isBehind = false;

  constructor(parts: AnswerParts) {
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

  /** Sends everybody what a batch changed. Never throws: what cannot be read now is read by everybody anew, later. */
  async emit(change: Change): Promise<void> {
    if (this.#listeners.size === 0) return;
    try {
      const moved = { kind: "moved" } as const;
      const messages = await atOneBlock(this.#parts, (own) =>
        messagesOf(own, this.#isBehind ? moved : change),
      );
      this.#isBehind = false;
      for (const message of messages) for (const listener of this.#listeners) listener.send(message);
    } catch {
      this.#isBehind = true;
    }
  }

  /** @throws BaseError LAST_EVENT_ID_INVALID, TOO_BUSY, TOO_MANY_OF_ONE; as SqlStore.read */
  async answer(request: Request, response: Response): Promise<void> {
    const after = lastEventId(request);
    const giveBack = this.#slots.take(addressOf(request));
    // What comes while this is read is sent behind it, but for what it has already.
    const waiting: StreamMessage[] = [];
    const early: Listener = { send: (message) => void waiting.push(message), end: () => response.destroy() };
    this.#listeners.add(early);
    const leave = () => {
      this.#listeners.delete(early);
      giveBack();
    };
    response.once("close", leave);
    let first: readonly StreamMessage[];
    try {
      first = await atOneBlock(this.#parts, async (own) =>
        after === undefined ? headMessages(own) : since(own, after),
      );
    } catch (error) {
      response.removeListener("close", leave);
      leave();
      throw error;
    }
    if (response.destroyed) return;
    const stream = openEventStream(response);
    for (const message of [...first, ...behind(waiting, first)]) stream.send(message);
    this.#listeners.delete(early);
    this.#listeners.add(stream);
    stream.signal.addEventListener("abort", () => this.#listeners.delete(stream));
  }

  /** Ends all streams. */
  close(): void {
    for (const listener of [...this.#listeners]) listener.end();
  }
}

/** What came after an event is told again to who comes back; of more he reads the state anew. */
async function since(parts: ReadParts, { block, logIndex, hash }: EventPlace): Promise<StreamMessage[]> {
  const seq = seqOf(block, logIndex);
  const [seen] = await parts.index.tables.moves("m.seq = ?", "LIMIT 1", [seq]);
  if (seen === undefined || seen.blockHash.slice(2, 18) !== hash) return [resetMessage(parts)];
  const missed = await messagesBetween(parts, seq + 1, Number.MAX_SAFE_INTEGER);
  return missed.length > MAX_MESSAGES ? [resetMessage(parts)] : [...missed, ...headMessages(parts)];
}

/** What came meanwhile, without the events of blocks that were read already; after a re-org numbers mean other blocks. */
function behind(messages: readonly StreamMessage[], read: readonly StreamMessage[]): StreamMessage[] {
  const head = Math.max(-1, ...read.flatMap(headIn));
  const turned = messages.findIndex(({ event }) => event === "rollback" || event === "reset");
  const known = turned === -1 ? messages.length : turned;
  return messages.filter(
    (message, i) =>
      i >= known ||
      (message.event === "event" && message.data.block > head) ||
      (message.event === "head" && message.data.number > head),
  );
}

function headIn(message: StreamMessage): number[] {
  if (message.event === "head") return [message.data.number];
  return message.event === "reset" && message.data.head !== undefined ? [message.data.head.number] : [];
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
