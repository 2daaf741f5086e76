/** Data Processor: facts about bytes (specs/003, lines 441-465). */
import { keccak256 } from "viem";
import { fromHex } from "../../../base/bytes.ts";
import { isBaseError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import type { MethodHandlers } from "../../http/app.ts";

export const dataProcessor: MethodHandlers = {
  analyze: ([data]) => {
    const bytes = fromHex(data as string);
    return [keccak256(bytes), bytes.length, isJson(bytes)];
  },
};

export const createHandlers = (): MethodHandlers => dataProcessor;

function isJson(bytes: Uint8Array): boolean {
  try {
    parseJson(bytes, "the data");
    return true;
  } catch (error) {
    if (isBaseError(error)) return false;
    throw error;
  }
}
