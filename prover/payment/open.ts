/** Wires the orders of a prover that is paid on finality. */
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import type { Metrics } from "../../protocol/service/metrics/metrics.ts";
import type { HttpLimits } from "../http/parts.ts";
import { addOrderMetrics } from "../metrics.ts";
import type { PaymentTerms } from "./facilitator.ts";
import { OWN_REQUEST_SECONDS } from "./file-request.ts";
import { OrderStore } from "./order-store.ts";
import { type OrderParts, Orders } from "./orders.ts";

/** For the payment itself, seconds. */
const SETTLE_SECONDS = 60;

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
  const windowSeconds = 4 * parts.chain.constants.answerSeconds;
  // A claim may come at the request's last moment, and a dispute may last as long as a window.
  const validSeconds =
    Math.max(OWN_REQUEST_SECONDS + 2 * windowSeconds, parts.http.maxWaitSeconds) + SETTLE_SECONDS;
  const { price, asset, network, payTo } = terms;
  return new Orders({
    ...parts,
    offer: { scheme: "upto", price: `${price}`, asset, network, payTo },
    store: new OrderStore(parts.db, terms.maxStrangers),
    service: connectFacilitator(terms, validSeconds),
    onEnd: addOrderMetrics(parts.metrics),
  });
}
