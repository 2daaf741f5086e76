/** Requests for choices, from before they are sent: one, its fee and its answer would be lost with the process. An output
 *  that became final is of use for every later run with the same prompt. */
import { fileURLToPath } from "node:url";
import { type Address, concatHex, type Hex, keccak256 } from "viem";
import { decodeOrder, encodeOrder } from "../../../protocol/rules/orders.ts";
import type { ModelId, Request } from "../../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../../protocol/service/journal/database.ts";

export const CHOICE_SCHEMA: SchemaPart = {
  name: "choices",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

export interface AskedChoice {
  readonly request: Request;
  /** calldata of the model */
  readonly input: Hex;
}

export class ChoiceStore {
  readonly #db: SqliteDatabase;

  /** @param db opened with CHOICE_SCHEMA among its parts */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  asked(executor: Address, input: Hex): AskedChoice | undefined {
    const row = this.#db
      .prepare<[string, string], { model_id: ModelId; filed: Hex }>(
        "SELECT model_id, filed FROM choice_requests WHERE executor = ? AND input_hash = ?",
      )
      .get(executor, keccak256(input));
    return row === undefined ? undefined : decodeOrder(row.model_id, row.filed);
  }

  keep(executor: Address, { request, input }: AskedChoice): void {
    const filed = concatHex([request.requester, encodeOrder(request, input)]);
    this.#db
      .prepare("INSERT INTO choice_requests (executor, input_hash, model_id, filed) VALUES (?, ?, ?, ?)")
      .run(executor, request.inputHash, request.modelId, filed);
  }

  forget(executor: Address, { request }: AskedChoice): void {
    this.#db
      .prepare("DELETE FROM choice_requests WHERE executor = ? AND input_hash = ?")
      .run(executor, request.inputHash);
  }
}
