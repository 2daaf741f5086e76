/** The live stream: the chain's head and events as they are indexed, one connection for the whole page. */
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { ChainEvent, Head } from "../../api/types.ts";
import type { Reading } from "../../site/forms.ts";
import { type SourceListener, source } from "./source.ts";

export interface LiveState {
  readonly connection: "connecting" | "open" | "lost";
  readonly head: Head | undefined;
  /** milliseconds of this machine at which the head came */
  readonly headAtMs: number;
  /** newest first, at most MAX_EVENTS */
  readonly events: readonly ChainEvent[];
  /** of a site that reads the chain itself: how far it is */
  readonly reading: Reading | undefined;
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
  reading: undefined,
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
  const emit: SourceListener["emit"] = ({ event, data }) => {
    switch (event) {
      case "head":
        return set({ head: data, headAtMs: Date.now() });
      case "event": {
        const others = state.events.filter(({ id }) => id !== data.id);
        set({ events: [data, ...others].slice(0, MAX_EVENTS) });
        return refresh();
      }
      case "rollback": {
        const events = state.events.filter(({ block }) => block <= data.ancestor);
        set({ events, rollback: { ancestor: data.ancestor, atMs: Date.now() } });
        return refresh();
      }
      case "reset":
        set({ events: [] });
        return refresh();
    }
  };
  source().listen({
    connected(isOpen) {
      // What happened without a connection.
      if (isOpen && state.connection === "lost") refresh();
      set({ connection: isOpen ? "open" : "lost" });
    },
    reading: (reading) => set({ reading }),
    emit,
  });
}
