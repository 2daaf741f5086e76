/** Payments by x402 in the scheme `upto`: a caller signs how much may be taken, for whom, by which facilitator and until
 *  when. Whatever knows x402's packages is here. */
import {
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  HTTPFacilitatorClient,
} from "@x402/core/http";
import { x402ResourceServer } from "@x402/core/server";
import { type PaymentPayload, type PaymentRequirements, SettleError, VerifyError } from "@x402/core/types";
import { UptoEvmScheme } from "@x402/evm/upto/server";
import type { Address, Hex } from "viem";
import { z } from "zod";
import { BaseError } from "../../base/errors.ts";
import { ORDER_EXTENSION, type PaidOrder, requireBound, saltIn } from "../../protocol/rules/paid-order.ts";
import { FINAL_OFFER, type Offer, orderOffer } from "./record-extension.ts";
import type { PaymentService, Settlement, SignedPayment } from "./service.ts";

export interface PaymentTerms {
  /** units of the token, for one output */
  readonly price: bigint;
  /** ERC-20 token */
  readonly asset: Address;
  /** CAIP-2 name of the token's chain, such as eip155:8453 */
  readonly network: `eip155:${number}`;
  readonly payTo: Address;
  readonly facilitatorUrl: string;
  /** whether a payment's nonce has to name its order; one that names another order is always refused */
  readonly binding: "accepted" | "required";
}

/** Longest wait for one answer of the facilitator, ms. */
const TIMEOUT_MS = 30_000;
/** Refusals by what the payer did or left undone: asking again changes nothing. */
const FOR_GOOD = /balance|allowance|expired|nonce|signature/;
/** By a transfer that was not found possible, be it for a nonce that was used or for a fault of the facilitator's node. */
const DOUBTFUL = /simulation_failed/;
/** How deep objects of a payload may lie in each other; x402's have six levels, and comparing them takes time that grows
 *  with the third power. */
const MAX_NESTING = 16;

const decimal = z.string().regex(/^\d{1,78}$/);
/** Of a payload, what is looked at here; the facilitator looks at all of it. */
const payloadForm = z.looseObject({
  x402Version: z.literal(2),
  accepted: z.looseObject({}),
  payload: z.looseObject({
    signature: z.string().regex(/^0x[0-9a-fA-F]*$/),
    permit2Authorization: z.looseObject({
      from: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
      nonce: decimal,
      deadline: decimal,
    }),
  }),
});

/** @param validSeconds how long a payment has to be valid */
export function connectFacilitator(
  terms: PaymentTerms,
  validSeconds: number,
  { description, extensions }: Offer = FINAL_OFFER,
): PaymentService {
  const { price, asset, network, payTo, facilitatorUrl: url, binding } = terms;
  const client = new HTTPFacilitatorClient({ url, timeoutMs: TIMEOUT_MS });
  const server = new x402ResourceServer(client).register(network, new UptoEvmScheme());
  let known: Promise<PaymentRequirements[]> | undefined;
  /** What the facilitator adds to the terms is asked for once. */
  const requirements = async (): Promise<PaymentRequirements[]> => {
    known ??= (async () => {
      await server.initialize();
      const amount = { asset, amount: price.toString() };
      const form = { scheme: "upto", network, payTo, price: amount, maxTimeoutSeconds: validSeconds };
      return server.buildPaymentRequirements(form);
    })();
    try {
      return await known;
    } catch (error) {
      known = undefined;
      throw unreachable(url, error);
    }
  };
  const whose = (payload: PaymentPayload, order: PaidOrder, isDemanded: boolean) => {
    const parts = partsOf(payload);
    requireBound(BigInt(parts.nonce), saltIn(payload.extensions), order, isDemanded);
    return parts;
  };
  return {
    validSeconds,
    terms: async (resource, reason, order) =>
      encodePaymentRequiredHeader(
        await server.createPaymentRequiredResponse(
          await requirements(),
          { url: resource, description, mimeType: "" },
          reason,
          { ...extensions, ...orderOffer(order, binding) },
        ),
      ),
    // What was asked for under other terms is the payer's still.
    whose: (header, order) => whose(payloadOf(header), order, false),
    isSame: (header, { signed }) => {
      const [{ payload }] = unpack(signed);
      return signatureIn(payloadOf(header).payload) === signatureIn(payload);
    },
    read: async (header, order) => {
      const payload = payloadOf(header);
      const parts = whose(payload, order, binding === "required");
      const matching = server.findMatchingRequirements(await requirements(), payload);
      if (matching === undefined) throw refused("it is for other terms than those of this node");
      // The salt is nobody's but the payer's and this node's: whoever had it could ask for the answer.
      const { [ORDER_EXTENSION]: _order, ...extensions } = payload.extensions ?? {};
      const signed = JSON.stringify({ payload: { ...payload, extensions }, requirements: matching });
      return { ...parts, signed };
    },
    verify: async ({ signed, payer }) => {
      const [payload, matching] = unpack(signed);
      let answer: Awaited<ReturnType<typeof client.verify>>;
      try {
        answer = await client.verify(payload, matching);
      } catch (error) {
        if (error instanceof VerifyError) throw refused(error.message);
        throw unreachable(url, error);
      }
      if (!answer.isValid) throw refused(answer.invalidReason ?? "no reason given");
      if (answer.payer?.toLowerCase() !== payer) throw refused("it is of another payer than it says");
    },
    settle: ({ signed }, more) => settle(client, ...unpack(signed), more),
    transferIn: (receipt) => {
      const { network, transaction } = decodePaymentResponseHeader(receipt);
      return { network, transaction: transaction as Hex };
    },
  };
}

async function settle(
  client: HTTPFacilitatorClient,
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  more: Readonly<Record<string, unknown>>,
): Promise<Settlement> {
  try {
    const answer = await client.settle(payload, requirements);
    if (!answer.success) return notTaken(answer.errorReason);
    const { transaction } = answer;
    const extensions = { ...answer.extensions, ...more };
    return { status: "taken", transaction, receipt: encodePaymentResponseHeader({ ...answer, extensions }) };
  } catch (error) {
    if (error instanceof SettleError) return notTaken(error.errorReason);
    const reason = error instanceof Error ? error.message : String(error);
    return { status: wasAsked(error) ? "unknown" : "later", reason };
  }
}

function notTaken(reason = "no reason given"): Settlement {
  // Sent to the token's chain, and not mined when the facilitator answered.
  if (reason === "settlement_pending") return { status: "unknown", reason };
  // Behind a colon stands what the facilitator met itself: its own balance and nonce are not the payer's.
  const code = reason.replace(/:.*/s, "");
  if (DOUBTFUL.test(code)) return { status: "doubtful", reason };
  return { status: FOR_GOOD.test(code) ? "refused" : "later", reason };
}

/** False where no connection was made. */
function wasAsked(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(String(cause?.code));
}

/** @throws BaseError PAYMENT_REFUSED */
function payloadOf(header: string): PaymentPayload {
  let payload: unknown;
  try {
    payload = decodePaymentSignatureHeader(header);
  } catch {
    throw refused("the header PAYMENT-SIGNATURE is not base64 of JSON");
  }
  if (isDeep(payload, MAX_NESTING)) throw refused(`its JSON is nested more than ${MAX_NESTING} levels deep`);
  const parsed = payloadForm.safeParse(payload);
  if (parsed.success) return payload as PaymentPayload;
  const issue = parsed.error.issues[0];
  throw refused(`its ${issue?.path.join(".")} is not as x402 version 2 and the scheme upto have it`);
}

const isDeep = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeep(inner, levels - 1)));

function partsOf(payload: PaymentPayload): Omit<SignedPayment, "signed"> {
  const { from, nonce, deadline } = payloadForm.parse(payload).payload.permit2Authorization;
  // Beyond 53 bits it is for ever.
  const validUntil = Math.min(Number(deadline), Number.MAX_SAFE_INTEGER);
  return { payer: from.toLowerCase(), nonce: BigInt(nonce).toString(), validUntil };
}

const signatureIn = ({ signature }: Readonly<Record<string, unknown>>) => String(signature).toLowerCase();

function unpack(signed: string): [PaymentPayload, PaymentRequirements] {
  const { payload, requirements } = JSON.parse(signed) as {
    payload: PaymentPayload;
    requirements: PaymentRequirements;
  };
  return [payload, requirements];
}

export const refused = (why: string): BaseError =>
  new BaseError({
    code: "PAYMENT_REFUSED",
    shortMessage: `The payment is not accepted: ${why.slice(0, 200)}.`,
    nextStep: "Sign one by the terms in PAYMENT-REQUIRED; nothing was taken.",
    details: { reason: why.slice(0, 200) },
  });

const unreachable = (url: string, cause: unknown) =>
  new BaseError({
    code: "FACILITATOR_UNREACHABLE",
    shortMessage: `The facilitator ${url} could not be asked about the payment.`,
    nextStep: "Ask again later, or ask another node; nothing was taken.",
    retryable: true,
    cause,
  });
