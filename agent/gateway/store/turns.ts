/** Messages with their replies and metrics, by conversation. */
import { BaseError } from "../../../base/errors.ts";
import type { SqliteDatabase } from "../../../protocol/service/journal/database.ts";

export interface TurnStart {
  readonly turnId: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly caller: string;
  readonly message: string;
}

/** `answered`: text of the model passed the gate; `refused`: a sentence of the gateway went out instead; `error`: an
 *  event `error` did; `cancelled`: the client left. */
export type TurnOutcome = "answered" | "refused" | "error" | "cancelled";

export interface TurnMetrics {
  readonly outcome: TurnOutcome;
  /** answers of the model */
  readonly rounds: number;
  /** calls that ran */
  readonly calls: number;
  readonly denied: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly price: number;
}

/** What was said before. */
export interface Exchange {
  readonly message: string;
  readonly reply: string;
}

export class Turns {
  readonly #db: SqliteDatabase;
  readonly #nowMs: () => number;

  constructor(db: SqliteDatabase, nowMs: () => number) {
    this.#db = db;
    this.#nowMs = nowMs;
  }

  start({ turnId, conversationId, agentId, caller, message }: TurnStart): void {
    this.#db
      .prepare(
        "INSERT INTO turns (id, conversation_id, agent_id, caller, message, started_at) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(turnId, conversationId, agentId, caller, message, this.#nowMs());
  }

  /** Saves reply and metrics together. */
  end(turnId: string, reply: string, metrics: TurnMetrics): void {
    const { outcome, rounds, calls, denied, promptTokens, completionTokens, price } = metrics;
    this.#db
      .prepare(
        "UPDATE turns SET reply = ?, outcome = ?, rounds = ?, calls = ?, denied = ?, prompt_tokens = ?, completion_tokens = ?, price = ?, ended_at = ? WHERE id = ?",
      )
      .run(
        reply,
        outcome,
        rounds,
        calls,
        denied,
        promptTokens,
        completionTokens,
        price,
        this.#nowMs(),
        turnId,
      );
  }

  /** The last exchanges of a conversation, oldest first; unanswered ones are left out.
   *  @throws BaseError CONVERSATION_UNKNOWN if it is another agent's or another caller's, or there is none */
  history(conversationId: string, agentId: string, caller: string, limit: number): Exchange[] {
    const rows = this.#db
      .prepare<[string], Exchange & { agent_id: string; caller: string; outcome: string | null }>(
        "SELECT agent_id, caller, message, reply, outcome FROM turns WHERE conversation_id = ? ORDER BY started_at, rowid",
      )
      .all(conversationId);
    const [first] = rows;
    if (first?.agent_id !== agentId || first.caller !== caller) {
      throw new BaseError({
        code: "CONVERSATION_UNKNOWN",
        shortMessage: "There is no such conversation with this agent.",
        nextStep: "Leave conversationId out to begin one.",
      });
    }
    return rows
      .filter(({ outcome }) => outcome === "answered" || outcome === "refused")
      .map(({ message, reply }) => ({ message, reply }))
      .slice(-limit);
  }
}
