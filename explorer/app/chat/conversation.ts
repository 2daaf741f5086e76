/** What is asked and answered, outside of React: turns, their calls as they happen, and claims until they end. */
import {
  type Agent,
  ask,
  type ClaimView,
  type RequestView,
  type StartedTurn,
  type ToolResult,
  type TurnEvents,
} from "./gateway.ts";

export type CallState = "running" | "final" | "signed" | "unverified" | "pending" | "failed" | "denied";

export interface Call {
  readonly kind: "call";
  readonly id: number;
  readonly toolName: string;
  readonly state: CallState;
  /** the state in words */
  readonly words: string;
  readonly detail: string;
}
export type Entry =
  | Call
  | { readonly kind: "message" | "reply" | "error"; readonly id: number; readonly text: string };

export interface ChatState {
  /** undefined until the gateway has said */
  readonly agents: readonly Agent[] | undefined;
  readonly entries: readonly Entry[];
  readonly isBusy: boolean;
}

const POLL_MS = 2_000;

/** What comes next when a claim or a request is asked about again; undefined at its end. */
type Step = () => Promise<Step | undefined>;

export class Conversation {
  /** as the page has it; empty: none */
  token = "";
  #state: ChatState = { agents: undefined, entries: [], isBusy: false };
  readonly #listeners = new Set<() => void>();
  /** the gateway's conversation of each agent */
  readonly #conversations = new Map<string, string>();
  /** entries of the turn's calls, by the gateway's ids */
  readonly #calls = new Map<string, number>();
  #turn: { readonly id: string; readonly source: EventSource } | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly state = (): ChatState => this.#state;

  async loadAgents(): Promise<void> {
    try {
      const { agents } = await ask<{ agents: Agent[] }>("/v1/agents", { token: this.token });
      this.#set({ agents });
    } catch (error) {
      this.#add("error", (error as Error).message);
    }
  }

  async submit(agentId: string, message: string): Promise<void> {
    this.#add("message", message);
    this.#calls.clear();
    this.#set({ isBusy: true });
    try {
      const conversationId = this.#conversations.get(agentId);
      const body = { message, ...(conversationId === undefined ? {} : { conversationId }) };
      const path = `/v1/agents/${encodeURIComponent(agentId)}/turns`;
      const turn = await ask<StartedTurn>(path, { token: this.token, method: "POST", body });
      this.#conversations.set(agentId, turn.conversationId);
      this.#turn = { id: turn.turnId, source: this.#listen(turn.turnId) };
    } catch (error) {
      this.#add("error", (error as Error).message);
      this.#set({ isBusy: false });
    }
  }

  async cancel(): Promise<void> {
    if (this.#turn === undefined) return;
    // A turn that is over cannot be cancelled, and its end is told by its events.
    await ask(`/v1/turns/${this.#turn.id}`, { token: this.token, method: "DELETE" }).catch(() => undefined);
  }

  #listen(turnId: string): EventSource {
    const source = new EventSource(`/v1/turns/${encodeURIComponent(turnId)}/events`);
    const on = <Name extends keyof TurnEvents>(name: Name, handle: (data: TurnEvents[Name]) => void) =>
      source.addEventListener(name, (event) => handle(JSON.parse((event as MessageEvent<string>).data)));
    const finish = () => {
      source.close();
      this.#set({ isBusy: false });
    };
    on("tool_call", ({ callId, toolName }) => this.#calls.set(callId, this.#addCall(toolName)));
    on("tool_result", (result) => this.#onResult(result));
    on("tool_error", ({ toolName, error }) => this.#onDenied(toolName, error));
    on("text", ({ text }) => this.#add("reply", text));
    source.addEventListener("error", (event) => {
      // An event `error` of the gateway has data; one of the connection has none, and the browser connects again.
      const { data } = event as MessageEvent<string | undefined>;
      if (data !== undefined) this.#add("error", (JSON.parse(data) as { message: string }).message);
      else if (source.readyState === EventSource.CLOSED) finish();
    });
    on("done", ({ outcome }) => {
      if (outcome === "cancelled") this.#add("error", "Cancelled.");
      finish();
    });
    return source;
  }

  #onResult(result: ToolResult): void {
    const { callId, success, status, data, meaning, error, claimId, requestId } = result;
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    const where = placeOf(result);
    const shown = [where, meaning?.text, success ? JSON.stringify(data) : error].filter(Boolean);
    this.#change(call, { state: status, words: status, detail: shown.join("\n") });
    if (status !== "pending") return;
    if (claimId !== undefined) void this.#follow(() => this.#claimStep(call, claimId));
    else if (requestId !== undefined) void this.#follow(() => this.#requestStep(call, requestId));
  }

  #onDenied(toolName: string, error: string): void {
    const call = this.#state.entries.findLast(
      (one) => one.kind === "call" && one.toolName === toolName && one.state === "running",
    );
    if (call !== undefined) this.#change(call.id, { state: "denied", words: "denied", detail: error });
  }

  /** Asks again until there is nothing to wait for. */
  async #follow(step: Step): Promise<void> {
    let next: Step | undefined = step;
    try {
      next = await step();
    } catch {
      // Asked again below; a claim does not go away because a request did.
    }
    if (next === undefined) return;
    const following = next;
    setTimeout(() => void this.#follow(following), POLL_MS);
  }

  /** Of a request until somebody claimed, then of the claim. */
  async #requestStep(call: number, requestId: string): Promise<Step | undefined> {
    const again: Step = () => this.#requestStep(call, requestId);
    const view = await ask<RequestView>(`/v1/requests/${requestId}`, { token: this.token });
    if (view.final) return this.#end(call, "final", "the request is final now: ask again");
    if (view.state === "REFUNDED")
      return this.#end(call, "failed", "nobody answered and the fee went back: ask again");
    if (view.expired) return this.#end(call, "failed", "nobody answered in time: ask again");
    const { claimId } = view;
    if (claimId === undefined) {
      this.#change(call, { state: "pending", words: "pending: nobody has claimed yet" });
      return again;
    }
    this.#change(call, ({ detail }) => ({
      detail: detail.replace(/^request 0x[0-9a-f]+.*/s, `claim ${claimId}`),
    }));
    // A claim that falls leaves the request open for another one.
    return this.#claimStep(call, claimId, again);
  }

  /** @param afterFall what to follow when the claim fell; absent: nothing */
  async #claimStep(call: number, claimId: string, afterFall?: Step): Promise<Step | undefined> {
    const { state, final } = await ask<ClaimView>(`/v1/claims/${claimId}`, { token: this.token });
    if (final) return this.#end(call, "final", "the claim is final now: ask again");
    if (state === "FALLEN") {
      const next = afterFall === undefined ? "failed" : "pending";
      this.#change(call, { state: next, words: "the claim fell: it was wrong" });
      return afterFall;
    }
    this.#change(call, { state: "pending", words: "pending" });
    return () => this.#claimStep(call, claimId, afterFall);
  }

  #end(call: number, state: CallState, words: string): undefined {
    this.#change(call, { state, words });
  }

  #add(kind: "message" | "reply" | "error", text: string): void {
    const { entries } = this.#state;
    this.#set({ entries: [...entries, { kind, id: entries.length, text }] });
  }

  #addCall(toolName: string): number {
    const { entries } = this.#state;
    const id = entries.length;
    const call: Call = { kind: "call", id, toolName, state: "running", words: "running", detail: "" };
    this.#set({ entries: [...entries, call] });
    return id;
  }

  #change(id: number, change: Partial<Call> | ((call: Call) => Partial<Call>)): void {
    const entries = this.#state.entries.map((entry) => {
      if (entry.id !== id || entry.kind !== "call") return entry;
      return { ...entry, ...(typeof change === "function" ? change(entry) : change) };
    });
    this.#set({ entries });
  }

  #set(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Where on the chain, or behind which signature, a result is. */
function placeOf({ claimId, requestId, digest }: ToolResult): string {
  if (claimId !== undefined) return `claim ${claimId}`;
  if (requestId !== undefined) return `request ${requestId}`;
  return digest === undefined ? "" : `signed claim ${digest}`;
}
