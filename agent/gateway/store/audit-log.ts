/** Every event of every turn, kept: who, which agent, which tool, what came of it. */
import type { SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import { visibleText, visibleValue } from "../visible-text.ts";

export interface AuditEntry {
  /** `error`, `tool_call`, `tool_result`, `tool_error` as the client saw them; `loaded`, `gate`, `created`, … besides */
  readonly kind: string;
  readonly turnId?: string;
  readonly agentId?: string;
  readonly caller?: string;
  readonly tool?: string;
  readonly outcome?: string;
  readonly detail?: unknown;
}

export interface AuditRow extends AuditEntry {
  readonly id: number;
  /** ISO 8601 */
  readonly at: string;
}

export interface AuditFilter {
  readonly agentId?: string;
  readonly turnId?: string;
  readonly kind?: string;
  /** rows with a larger id */
  readonly after?: number;
}

interface StoredRow {
  readonly id: number;
  readonly at: number;
  readonly kind: string;
  readonly turn_id: string | null;
  readonly agent_id: string | null;
  readonly caller: string | null;
  readonly tool: string | null;
  readonly outcome: string | null;
  readonly detail: string;
}

/** Characters of any one text in a row. */
const MAX_TEXT = 2_000;
const MAX_DETAIL = 20_000;
const MAX_NAME = 120;

export class AuditLog {
  readonly #db: SqliteDatabase;
  readonly #nowMs: () => number;

  constructor(db: SqliteDatabase, nowMs: () => number) {
    this.#db = db;
    this.#nowMs = nowMs;
  }

  write({ kind, turnId, agentId, caller, tool, outcome, detail = {} }: AuditEntry): void {
    const name = (text: string | undefined) => (text === undefined ? null : visibleText(text, MAX_NAME));
    const body = JSON.stringify(visibleValue(detail, MAX_TEXT));
    this.#db
      .prepare(
        "INSERT INTO audit (at, kind, turn_id, agent_id, caller, tool, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(
        this.#nowMs(),
        kind,
        name(turnId),
        name(agentId),
        name(caller),
        name(tool),
        name(outcome),
        body.length <= MAX_DETAIL ? body : JSON.stringify({ cut: body.slice(0, MAX_DETAIL / 2) }),
      );
  }

  /** Rows in order, one at a time. */
  *rows({ agentId, turnId, kind, after = 0 }: AuditFilter = {}): Generator<AuditRow> {
    const wanted = { agent_id: agentId, turn_id: turnId, kind };
    const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
    const where = ["id > ?", ...given.map(([column]) => `${column} = ?`)].join(" AND ");
    const rows = this.#db
      .prepare<unknown[], StoredRow>(`SELECT * FROM audit WHERE ${where} ORDER BY id`)
      .iterate(after, ...given.map(([, value]) => value));
    for (const row of rows) {
      yield {
        id: row.id,
        at: new Date(row.at).toISOString(),
        kind: row.kind,
        ...(row.turn_id === null ? {} : { turnId: row.turn_id }),
        ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
        ...(row.caller === null ? {} : { caller: row.caller }),
        ...(row.tool === null ? {} : { tool: row.tool }),
        ...(row.outcome === null ? {} : { outcome: row.outcome }),
        detail: JSON.parse(row.detail) as unknown,
      };
    }
  }
}
