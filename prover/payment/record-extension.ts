/** The extensions of x402 by which a payment is told what it buys: a final output with its correctness record, or a signed
 *  answer. */

import { ORDER_EXTENSION, type PaidOrder } from "../../protocol/rules/paid-order.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
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

/** What the terms say of what is sold. */
export interface Offer {
  readonly description: string;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Nothing is taken before the output is final, and no final output can fall: there is nothing that a
 *  conviction could have refunded. */
const RECORD_OFFER = {
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

export const FINAL_OFFER: Offer = {
  description: "A final output of a model",
  extensions: RECORD_OFFER,
};

export const SIGNED_EXTENSION = "assay-signed-claim";

/** The price is taken for the claim, right or wrong: what a wrong one costs its prover is its bond. */
export const SIGNED_OFFER: Offer = {
  description: "A signed answer of a model",
  extensions: {
    [SIGNED_EXTENSION]: {
      info: {
        taken: "when signed",
        refund: "none: a wrong answer that is opened in time costs its prover a bond",
      },
      schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          taken: { const: "when signed" },
          refund: { type: "string" },
          url: { type: "string", format: "uri-reference" },
          digest: word,
        },
      },
    },
  },
};

const account = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" };

/** In the terms: the order that a payment can be bound to. What the caller pays for is for him to check. */
export const orderOffer = (order: PaidOrder, binding: "accepted" | "required") => ({
  [ORDER_EXTENSION]: {
    info: { ...order, binding },
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        kind: { enum: ["final", "signed"] },
        chainId: { type: "integer" },
        assay: account,
        model: word,
        inputHash: word,
        requester: account,
        binding: { enum: ["accepted", "required"] },
        salt: word,
      },
      required: ["kind", "chainId", "assay", "model", "inputHash", "requester"],
    },
  },
});

/** In the payment's answer: which signed claim was bought, and where its status is, relative to what was paid for. */
export const signedExtension = (digest: Digest) => ({
  [SIGNED_EXTENSION]: { info: { url: `/v1/signed-claims/${digest}`, digest } },
});

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
