/** The live stream: the chain's head and events as they are indexed, one connection for the whole page. */
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { ChainEvent, Head, StreamEvents } from "../../api/types.ts";

export interface LiveState {
  readonly connection: "connecting" | "open" | "lost";
  readonly head: Head | undefined;
  /** milliseconds of this machine at which the head came */
  readonly headAtMs: number;
  /** newest first, at most MAX_EVENTS */
  readonly events: readonly ChainEvent[];
  /** the block above which the chain was replaced last, and when */
  readonly rollback: { readonly ancestor: number; readonly atMs: number } | undefined;
}

const MAX_EVENTS = 60;
/** Pages are read again at most this often, however many events come. */
const REFRESH_MS = 700;
/** What does not change with the chain's head. */
const FIXED = new Set(["glossary", "healthz", "files"]);

let state: LiveState = {
  connection: "connecting",
  head: undefined,
  headAtMs: 0,
  events: [],
  rollback: undefined,
};
const listeners = new Set<() => void>();

function set(change: Partial<LiveState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useLive = <T>(select: (state: LiveState) => T): T =>
  useSyncExternalStore(subscribe, () => select(state));

export const setHead = (head: Head): void => {
  if (state.head === undefined || head.number > state.head.number) set({ head, headAtMs: Date.now() });
};

export const dismissRollback = (): void => set({ rollback: undefined });

/** Listens for as long as the page lives. */
export function startLive(queries: QueryClient): void {
  let isPlanned = false;
  const refresh = () => {
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(() => {
      isPlanned = false;
      void queries.invalidateQueries({ predicate: ({ queryKey }) => !FIXED.has(String(queryKey[0])) });
    }, REFRESH_MS);
  };
  const source = new EventSource("/v1/stream");
  const on = <Name extends keyof StreamEvents>(name: Name, handle: (data: StreamEvents[Name]) => void) =>
    source.addEventListener(name, (message) => handle(JSON.parse((message as MessageEvent<string>).data)));
  source.addEventListener("open", () => {
    // What happened while nothing was heard.
    if (state.connection === "lost") refresh();
    set({ connection: "open" });
  });
  source.addEventListener("error", () => set({ connection: "lost" }));
  on("head", (head) => set({ head, headAtMs: Date.now() }));
  on("event", (event) => {
    const others = state.events.filter(({ id }) => id !== event.id);
    set({ events: [event, ...others].slice(0, MAX_EVENTS) });
    refresh();
  });
  on("rollback", ({ ancestor }) => {
    const events = state.events.filter(({ block }) => block <= ancestor);
    set({ events, rollback: { ancestor, atMs: Date.now() } });
    refresh();
  });
  on("reset", () => {
    set({ events: [] });
    refresh();
  });
}
