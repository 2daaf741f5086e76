/** Server-sent events: their encoding, and an answer that stays open. */
import type { Response } from "express";
import { jsonOf } from "../../../base/json.ts";

export interface ServerEvent {
  /** absent: a client that comes back goes on after the event before this one */
  readonly id?: string | number;
  readonly event: string;
  readonly data: unknown;
}

/** JSON holds no line break outside of its escapes, so that no data can begin a field of its own. */
export function encodeEvent({ id, event, data }: ServerEvent): string {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return `${head}event: ${event}\ndata: ${jsonOf(data).trimEnd()}\n\n`;
}

const HEARTBEAT_MS = 15_000;
/** What a client that does not read may leave here, bytes. */
const MAX_UNREAD = 1_048_576;

export interface EventStream {
  /** A client that reads too little for too long is cut off. */
  send(event: ServerEvent): void;
  end(): void;
  /** Aborts when the client left or was cut off. */
  readonly signal: AbortSignal;
}

/** Begins the answer; comments keep the connection alive while nothing happens.
 *  @param heartbeatMs pause between them */
export function openEventStream(response: Response, heartbeatMs = HEARTBEAT_MS): EventStream {
  const left = new AbortController();
  const headers = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  };
  response.writeHead(200, headers);
  response.flushHeaders();
  const heartbeat = setInterval(() => response.write(":\n\n"), heartbeatMs);
  heartbeat.unref();
  response.once("close", () => {
    clearInterval(heartbeat);
    left.abort();
  });
  return {
    signal: left.signal,
    send: (event) => {
      response.write(encodeEvent(event));
      if (response.writableLength > MAX_UNREAD) response.destroy();
    },
    end: () => response.end(),
  };
}
