import type { Hex } from "viem";
import { openSqlite, type SqliteDatabase } from "../../../protocol/service/journal/sqlite.ts";

/** Keeps the first answer to each question for good. */
export class AnswerStore {
  readonly #database: SqliteDatabase;
  readonly #underWay = new Map<Hex, Promise<string>>();

  /** @param file SQLite; ":memory:" keeps nothing past the process */
  constructor(file: string) {
    this.#database = openSqlite(file);
    this.#database.pragma("journal_mode = WAL");
    this.#database.exec(
      "CREATE TABLE IF NOT EXISTS answers (question TEXT PRIMARY KEY, answer TEXT NOT NULL) STRICT",
    );
  }

  /** Asks once, however many ask at the same time. A failure is not kept.
   *  @param question hash of the calldata */
  async of(question: Hex, ask: () => Promise<string>): Promise<string> {
    const kept = this.#read(question);
    if (kept !== undefined) return kept;
    const running = this.#underWay.get(question);
    if (running !== undefined) return running;
    const asked = ask().then((answer) => this.#keep(question, answer));
    this.#underWay.set(question, asked);
    try {
      return await asked;
    } finally {
      this.#underWay.delete(question);
    }
  }

  #read(question: Hex): string | undefined {
    const row = this.#database.prepare("SELECT answer FROM answers WHERE question = ?").get(question);
    return (row as { answer: string } | undefined)?.answer;
  }

  /** What another process kept meanwhile stands. */
  #keep(question: Hex, answer: string): string {
    this.#database.prepare("INSERT OR IGNORE INTO answers VALUES (?, ?)").run(question, answer);
    return this.#read(question) ?? answer;
  }
}
