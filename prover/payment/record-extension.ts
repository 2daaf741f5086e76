/** The extension of x402 by which a payment is told where the correctness record of its output is. */
import { RECORD_FORMAT } from "../../protocol/rules/receipt/record.ts";
import type { ClaimId, RequestId } from "../../protocol/rules/types.ts";

export const RECORD_EXTENSION = "assay-record";

/** By what an output that is paid for is final. */
export interface Recorded {
  readonly request: RequestId;
  /** absent after truth without a claim */
  readonly claim?: ClaimId | undefined;
}

const word = { type: "string", pattern: "^0x[0-9a-f]{64}$" };

/** In the terms. Nothing is taken before the output is final, and no final output can fall: there is nothing that a
 *  conviction could have refunded. */
export const RECORD_OFFER = {
  [RECORD_EXTENSION]: {
    info: { format: RECORD_FORMAT, taken: "when final", refund: "none: a final output cannot fall" },
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        format: { const: RECORD_FORMAT },
        taken: { const: "when final" },
        refund: { type: "string" },
        url: { type: "string", format: "uri-reference" },
        request: word,
        claim: word,
      },
      required: ["format"],
    },
  },
} as const;

/** In the payment's answer: which request and claim the record is about, and its URL, relative to what was paid for. */
export const recordExtension = ({ request, claim }: Recorded) => ({
  [RECORD_EXTENSION]: {
    info: {
      format: RECORD_FORMAT,
      url: `/v1/requests/${request}/record${claim === undefined ? "" : `?claim=${claim}`}`,
      request,
      ...(claim === undefined ? {} : { claim }),
    },
  },
});
