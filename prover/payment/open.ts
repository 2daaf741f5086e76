/** Wires the orders of a prover that is paid on finality. */
import { RULES } from "../../protocol/rules/machine.ts";
import type { GameConstants } from "../../protocol/rules/types.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import type { Metrics } from "../../protocol/service/metrics/metrics.ts";
import type { HttpLimits } from "../http/parts.ts";
import { addOrderMetrics } from "../metrics.ts";
import type { PaymentTerms } from "./facilitator.ts";
import { OWN_REQUEST_SECONDS } from "./file-request.ts";
import { OrderStore } from "./order-store.ts";
import { type OrderParts, Orders } from "./orders.ts";
import { SIGNED_OFFER } from "./record-extension.ts";
import { SignedSaleStore } from "./signed-sale-store.ts";
import { SignedSales } from "./signed-sales.ts";

/** For the payment itself, seconds. */
const SETTLE_SECONDS = 60;

/** How long a payment has to be valid: a claim may come at the request's last moment, and a challenger at its window's.
 *  @param depth the greatest of the models' */
export const validSecondsOf = (
  depth: number,
  { answerSeconds }: Pick<GameConstants, "answerSeconds">,
  { maxWaitSeconds }: Pick<HttpLimits, "maxWaitSeconds">,
): number => {
  const longest = OWN_REQUEST_SECONDS + 4 * answerSeconds + RULES.disputeSeconds(depth, answerSeconds);
  return Math.max(longest, maxWaitSeconds) + SETTLE_SECONDS;
};

/** Longest time from a payment to the answer that it buys, seconds. */
const SIGNED_SECONDS = 2 * SETTLE_SECONDS;

/** @param terms what is asked for, `price` being that of a signed answer */
export async function openSignedSales(
  terms: PaymentTerms,
  parts: Pick<OrderParts, "nowMs" | "log"> & {
    readonly db: SqliteDatabase;
    readonly http: Pick<HttpLimits, "runTimeoutSeconds">;
  },
): Promise<SignedSales> {
  const { connectFacilitator } = await import("./facilitator.ts");
  const validSeconds = parts.http.runTimeoutSeconds + SIGNED_SECONDS;
  return new SignedSales({
    ...parts,
    store: new SignedSaleStore(parts.db),
    offer: offerOf(terms),
    service: connectFacilitator(terms, validSeconds, SIGNED_OFFER),
  });
}

const offerOf = ({ price, asset, network, payTo }: PaymentTerms) => ({
  ...{ scheme: "upto", price: `${price}`, asset, network, payTo },
});

/** @param terms what is asked for, and `maxStrangers` as OrderStore takes it */
export async function openOrders(
  terms: PaymentTerms & { readonly maxStrangers: number },
  parts: Pick<
    OrderParts,
    "chain" | "sender" | "node" | "models" | "policy" | "claims" | "pollIntervalMs" | "nowMs" | "log"
  > & {
    readonly db: SqliteDatabase;
    readonly metrics: Metrics;
    readonly http: HttpLimits;
  },
): Promise<Orders> {
  // Loaded by those who are paid this way: it takes seconds.
  const { connectFacilitator } = await import("./facilitator.ts");
  const depth = Math.max(0, ...[...parts.models.values()].map((model) => model.depth));
  const validSeconds = validSecondsOf(depth, parts.chain.constants, parts.http);
  return new Orders({
    ...parts,
    offer: offerOf(terms),
    store: new OrderStore(parts.db, terms.maxStrangers),
    service: connectFacilitator(terms, validSeconds),
    onEnd: addOrderMetrics(parts.metrics),
  });
}
