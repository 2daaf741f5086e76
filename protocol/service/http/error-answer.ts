/** Errors of HTTP interfaces: one table from codes to statuses, one form of answer. */
import { BaseError } from "../../../base/errors.ts";

/** A code that is not here is a fault of ours: 500. */
const STATUS: Readonly<Record<string, number>> = {
  BODY_INCOMPLETE: 400,
  BODY_NOT_BYTES: 400,
  CALLDATA_NOT_CANONICAL: 400,
  CALLDATA_TOO_SHORT: 400,
  CHAT_INVALID: 400,
  EGRESS_ADDRESS_REFUSED: 400,
  EGRESS_ORIGIN_REFUSED: 400,
  EGRESS_REDIRECT_REFUSED: 400,
  EGRESS_TOO_LARGE: 400,
  ID_INVALID: 400,
  INPUT_MISMATCH: 400,
  INPUTS_INVALID: 400,
  INPUTS_TOO_MANY: 400,
  JSON_INVALID: 400,
  INT16S_INVALID: 400,
  LAST_EVENT_ID_INVALID: 400,
  LEAF_NOT_COMPACT: 400,
  MESSAGE_INVALID: 400,
  MESSAGES_INVALID: 400,
  NUMBER_UNSAFE: 400,
  OUTPUT_MISMATCH: 400,
  PATH_INVALID: 400,
  PROMPT_TOO_LONG: 400,
  PRICES_INVALID: 400,
  QUERY_INVALID: 400,
  RAW_LENGTH_INVALID: 400,
  SELECTOR_INVALID: 400,
  SELECTOR_MISMATCH: 400,
  SELECTOR_UNKNOWN: 400,
  SIGNATURE_INVALID: 400,
  SIGNED_CLAIM_ELSEWHERE: 400,
  SIGNED_CLAIM_INVALID: 400,
  SOURCE_REFUSED: 400,
  TEMPLATE_REFUSES: 400,
  TEXT_INVALID: 400,
  TEXT_NOT_ENCODABLE: 400,
  TEXT_NOT_UNICODE: 400,
  TEXT_TOO_LONG: 400,
  VALUE_MISSING: 400,
  CALLER_UNKNOWN: 401,
  PAYMENT_OTHER_ORDER: 402,
  PAYMENT_OWED: 402,
  PAYMENT_REFUSED: 402,
  PAYMENT_REQUIRED: 402,
  PAYMENT_UNBOUND: 402,
  PAYMENT_USED: 402,
  HOST_REFUSED: 403,
  ORIGIN_REFUSED: 403,
  AGENT_UNKNOWN: 404,
  ACCOUNT_UNKNOWN: 404,
  CLAIM_UNKNOWN: 404,
  BATCH_UNKNOWN: 404,
  LEAF_UNKNOWN: 404,
  CONVERSATION_UNKNOWN: 404,
  FILE_UNKNOWN: 404,
  MODEL_NOT_SERVED: 404,
  MODEL_UNKNOWN: 404,
  PAGE_NOT_BUILT: 404,
  PROVER_UNKNOWN: 404,
  REQUEST_UNKNOWN: 404,
  ROUTE_UNKNOWN: 404,
  SIGNED_CLAIM_UNKNOWN: 404,
  TRANSACTION_UNKNOWN: 404,
  TURN_UNKNOWN: 404,
  BATCHING_OFF: 409,
  EXECUTION_REFUSED: 409,
  LANE_UNAVAILABLE: 409,
  MODEL_NAME_AMBIGUOUS: 409,
  MODEL_WITHOUT_CHAT: 409,
  MODEL_WITHOUT_TEXT: 409,
  SIGNING_OFF: 409,
  SOLD_SINGLY: 409,
  SIGNED_CLAIM_EARLY: 409,
  SIGNED_CLAIM_EXPIRED: 409,
  SIGNED_CLAIM_REFUSED: 409,
  TEMPLATE_INVALID: 409,
  STAKE_TOO_LOW: 409,
  PROVER_REFUSED: 409,
  WEIGHTS_NOT_PUBLISHED: 409,
  FILE_CHANGED: 412,
  BODY_TOO_LARGE: 413,
  SIGNED_CLAIM_TOO_LARGE: 413,
  CONTENT_TYPE_UNSUPPORTED: 415,
  RANGE_OUTSIDE: 416,
  CALLER_LEFT: 499,
  PAYER_BUSY: 429,
  RATE_LIMITED: 429,
  TOO_MANY_OF_ONE: 429,
  TOO_MANY_TURNS: 429,
  AGENT_TIMEOUT: 503,
  BOND_ABOVE_LIMIT: 503,
  BLOCK_UNKNOWN: 503,
  CHAIN_NOT_READ_YET: 503,
  COULD_NOT_CHECK: 503,
  DATABASE_UNREACHABLE: 503,
  DATA_FEE_UNREADABLE: 503,
  EGRESS_FAILED: 503,
  EGRESS_TIMEOUT: 503,
  GENERATION_FAILED: 503,
  MODEL_CANNOT_RUN: 503,
  NODE_SILENT: 503,
  RECEIPT_UNPROVABLE: 503,
  REQUEST_UNANSWERED: 404,
  RPC_FAULT: 503,
  RPC_UNREACHABLE: 503,
  SOURCE_UNAVAILABLE: 503,
  FACILITATOR_UNREACHABLE: 503,
  PAYMENT_UNKNOWN: 503,
  ORDER_REFUSED: 503,
  ORDER_VOID: 503,
  JOURNAL_FAILED: 503,
  PROVER_UNREACHABLE: 503,
  RUN_TIMEOUT: 503,
  SIGNER_LOST: 503,
  SIGNING_PAUSED: 503,
  STOPPING: 503,
  TOO_BUSY: 503,
  NOT_BATCHED_IN_TIME: 504,
  NOT_FINAL_IN_TIME: 504,
};

/** @returns HTTP status of an error */
export function statusOf(error: unknown): number {
  return error instanceof BaseError ? (STATUS[error.code] ?? 500) : 500;
}

/** What an answer says of an error; causes are left out. */
export function describeError(error: unknown, status: number): Record<string, unknown> {
  if (!(error instanceof BaseError) || status === 500) {
    return { code: "INTERNAL", message: "A fault of this node.", nextStep: "Report it with the request id." };
  }
  const { code, shortMessage, nextStep, details, retryable } = error;
  return { code, message: shortMessage, nextStep, details, retryable: retryable || status >= 503 };
}

export const pathInvalid = (cause: URIError): BaseError =>
  new BaseError({
    code: "PATH_INVALID",
    shortMessage: "The path is no valid percent-encoding of UTF-8.",
    nextStep: "Encode the path's parts with encodeURIComponent.",
    cause,
  });

export const fileChanged = (cause: unknown): BaseError =>
  new BaseError({
    code: "FILE_CHANGED",
    shortMessage: "The file is not in the state that If-Match or If-Unmodified-Since names.",
    nextStep: "Ask without that header.",
    cause,
  });

export const rangeOutside = (cause: unknown): BaseError =>
  new BaseError({
    code: "RANGE_OUTSIDE",
    shortMessage: "The file has no such part.",
    nextStep: "Ask without Range, or for bytes below its length.",
    cause,
  });
