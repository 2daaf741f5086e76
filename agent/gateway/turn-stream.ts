/** The events of one turn, kept so that a client that lost its connection goes on where it was. */
import type { EventName, StoredEvent, TurnEvents } from "./events.ts";

/** `end` is called after the last event. */
export interface EventSink {
  event(event: StoredEvent): void;
  end(): void;
}

export class TurnStream {
  readonly #events: StoredEvent[] = [];
  readonly #sinks = new Set<EventSink>();
  readonly #graceMs: number;
  readonly #leave = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** @param graceMs how long a turn goes on without anybody who reads it */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
    this.#startTimer();
  }

  /** Aborts when the client left or cancelled. */
  get signal(): AbortSignal {
    return this.#leave.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get lastId(): number {
    return this.#events.length;
  }

  send<Name extends EventName>(event: Name, data: TurnEvents[Name]): void {
    if (this.#isOver) return;
    const stored = { id: this.#events.length + 1, event, data };
    this.#events.push(stored);
    for (const sink of this.#sinks) sink.event(stored);
  }

  /** Ends the stream for everybody. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const sink of this.#sinks) sink.end();
    this.#sinks.clear();
  }

  cancel(): void {
    if (!this.#isOver) this.#leave.abort();
  }

  /** Gives what came after the event `after`, then what comes. @returns detaches */
  attach(after: number, sink: EventSink): () => void {
    for (const event of this.#events.slice(after)) sink.event(event);
    if (this.#isOver) {
      sink.end();
      return () => {};
    }
    clearTimeout(this.#timer);
    this.#sinks.add(sink);
    return () => {
      this.#sinks.delete(sink);
      if (this.#sinks.size === 0 && !this.#isOver) this.#startTimer();
    };
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#leave.abort(), this.#graceMs);
    this.#timer.unref();
  }
}
