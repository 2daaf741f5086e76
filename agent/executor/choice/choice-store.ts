/** Requests for choices, from before they are sent: one, its fee and its answer would be lost with the process. An output
 *  that became final is of use for every later run with the same prompt. */
import { fileURLToPath } from "node:url";
import { type Address, type Hex, keccak256 } from "viem";
import { decodeOrder, encodeFiled } from "../../../protocol/rules/orders.ts";
import type { ModelId, Request } from "../../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../../protocol/service/journal/database.ts";

export const CHOICE_SCHEMA: SchemaPart = {
  name: "choices",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

export interface AskedChoice {
  readonly executor: Address;
  readonly request: Request;
  /** calldata of the model */
  readonly input: Hex;
}

interface Row {
  readonly executor: Address;
  readonly model_id: ModelId;
  readonly filed: Hex;
}

const COLUMNS = "executor, model_id, filed";
const askedOf = ({ executor, model_id, filed }: Row): AskedChoice => ({
  executor,
  ...decodeOrder(model_id, filed),
});
const filedOf = ({ request, input }: AskedChoice): Hex => encodeFiled(request, input);

export class ChoiceStore {
  readonly #db: SqliteDatabase;

  /** @param db opened with CHOICE_SCHEMA among its parts */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  asked(executor: Address, input: Hex): AskedChoice | undefined {
    const row = this.#db
      .prepare<[string, string], Row>(
        `SELECT ${COLUMNS} FROM choice_requests WHERE executor = ? AND input_hash = ?`,
      )
      .get(executor, keccak256(input));
    return row === undefined ? undefined : askedOf(row);
  }

  /** Requests whose output is not final and whose fee is not back. */
  open(): AskedChoice[] {
    return this.#db
      .prepare<[], Row>(`SELECT ${COLUMNS} FROM choice_requests WHERE is_open = 1 ORDER BY asked_at`)
      .all()
      .map(askedOf);
  }

  /** Wei of requests from this second on, but those whose fee is back. */
  paidSince(second: number): bigint {
    return this.#db
      .prepare<[number], Row>(`SELECT ${COLUMNS} FROM choice_requests WHERE asked_at >= ?`)
      .all(second)
      .reduce((sum, row) => sum + askedOf(row).request.fee, 0n);
  }

  /** @param askedAt seconds */
  keep(asked: AskedChoice, askedAt: number): void {
    const { inputHash, modelId } = asked.request;
    this.#db
      .prepare(
        "INSERT INTO choice_requests (executor, input_hash, model_id, filed, asked_at, is_open) VALUES (?, ?, ?, ?, ?, 1)",
      )
      .run(asked.executor, inputHash, modelId, filedOf(asked), askedAt);
  }

  /** Its output is final. */
  close(asked: AskedChoice): void {
    this.#db
      .prepare("UPDATE choice_requests SET is_open = 0 WHERE executor = ? AND filed = ?")
      .run(asked.executor, filedOf(asked));
  }

  /** Nobody answered it. */
  forget(asked: AskedChoice): void {
    this.#db
      .prepare("DELETE FROM choice_requests WHERE executor = ? AND filed = ?")
      .run(asked.executor, filedOf(asked));
  }
}
