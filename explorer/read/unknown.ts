/** What is asked for and is not there. */
import { BaseError } from "../../base/errors.ts";

const unknown = (code: string, what: string) => (id: string) =>
  new BaseError({
    code,
    shortMessage: `There is no ${what} ${id} on this chain, as far as it is indexed.`,
    nextStep: "Check the id, the chain and the deployment; GET /healthz says how far the index is.",
  });

export const requestUnknown = unknown("REQUEST_UNKNOWN", "request");
export const claimUnknown = unknown("CLAIM_UNKNOWN", "claim");
export const modelUnknown = unknown("MODEL_UNKNOWN", "model");
export const accountUnknown = unknown("ACCOUNT_UNKNOWN", "move of account");
export const batchUnknown = unknown("BATCH_UNKNOWN", "batch");
export const leafUnknown = unknown("LEAF_UNKNOWN", "leaf");
export const signedUnknown = unknown("SIGNED_CLAIM_UNKNOWN", "opened signed claim");
export const transactionUnknown = unknown("TRANSACTION_UNKNOWN", "transaction");
