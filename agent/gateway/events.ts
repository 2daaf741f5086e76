/** The events of a turn as a client sees them. */

import type { Reading } from "../../inference/meaning/read.ts";
import type { TurnOutcome } from "./store/turns.ts";
import type { Evidence } from "./tool.ts";

/** Names are those of the tool-gating specification; `text` and `done` are ours. */
export interface TurnEvents {
  /** the turn could not be done; nothing but `done` follows */
  readonly error: { readonly message: string };
  /** an attempt, allowed or not. Arguments are the model's words: they stay here */
  readonly tool_call: { readonly callId: string; readonly toolName: string };
  readonly tool_result:
    | ({
        readonly callId: string;
        readonly toolName: string;
        readonly success: true;
        readonly status: "final" | "signed" | "unverified";
        readonly data: unknown;
        /** what the output of a model says, by its manifest */
        readonly meaning?: Reading;
      } & Evidence)
    | ({
        readonly callId: string;
        readonly toolName: string;
        readonly success: false;
        readonly status: "pending" | "failed";
        readonly code: string;
        readonly error: string;
      } & Evidence);
  /** no access; nothing was run */
  readonly tool_error: { readonly toolName: string; readonly error: string };
  /** the whole reply */
  readonly text: { readonly text: string };
  readonly done: { readonly outcome: TurnOutcome };
}
export type EventName = keyof TurnEvents;

export type SendEvent = <Name extends EventName>(event: Name, data: TurnEvents[Name]) => void;

export interface StoredEvent {
  /** counts from 1 within the turn */
  readonly id: number;
  readonly event: EventName;
  readonly data: unknown;
}
