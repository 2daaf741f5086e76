/** What the routes need of the node. */
import type { Hex } from "viem";
import type { Logger } from "../../base/log.ts";
import type { ClaimIndex } from "../../protocol/chain/claim-index.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import type { PaidOrder } from "../../protocol/rules/paid-order.ts";
import type { Payment as Transfer } from "../../protocol/rules/receipt/record.ts";
import type { ClaimId, ModelId, RequestId } from "../../protocol/rules/types.ts";
import type { CallerLimits } from "../../protocol/service/http/service.ts";
import type { Metrics } from "../../protocol/service/metrics/metrics.ts";
import type { NodePulse } from "../../protocol/service/metrics/node-pulse.ts";
import type { ModelTerms, Policy, ProverState, RequestDecision } from "../decide.ts";
import type { ServedModel, ServedModels } from "../models.ts";
import type { OwedAnswer } from "../owed.ts";
import type { SignedPayment } from "../payment/service.ts";
import type { SignedSales } from "../payment/signed-sales.ts";
import type { PromiseNode } from "../promises/node.ts";
import type { Engines, Runs } from "../runs.ts";

/** The node as the routes see it. */
export interface NodeView {
  readonly index: ClaimIndex;
  /** the newest block that was looked at; absent at the start */
  readonly head: Head | undefined;
  /** the node's own state at that block */
  readonly state: ProverState | undefined;
  decisionOn(id: RequestId): RequestDecision | undefined;
  /** of a claim that the node has seen and not forgotten, in chain order */
  eventsOf(id: ClaimId): readonly ChainEvent[] | undefined;
  /** a model with the truths that are ready for it */
  termsOf(model: ServedModel): ModelTerms;
  /** answers to challengers that are late */
  overdue(): readonly OwedAnswer[];
  /** jobs by kind */
  jobs(): Readonly<Record<string, number>>;
}

export interface OrderStatus {
  /** open: under way; unpaid: final, and nobody's payment could be taken; void: it cannot become final any more */
  readonly state: "open" | "paid" | "unpaid" | "void";
  /** of this payment, if it was taken: a header's value */
  readonly receipt?: string;
  /** why it could not be taken */
  readonly reason?: string;
}

/** What was paid for here. */
export interface PaidOutput {
  readonly request: RequestId;
  readonly outputHash: Hex;
}

/** How callers pay who want a final output and file no request themselves. */
export interface Payment {
  /** Least seconds in which an output can become final. */
  leastSeconds(model: ServedModel): number;
  /** price, asset, network and payee, for errors */
  readonly offer: Readonly<Record<string, string>>;
  /** The terms, for the header PAYMENT-REQUIRED.
   *  @param url what is paid for @param reason why nothing was taken so far
   *  @throws BaseError FACILITATOR_UNREACHABLE (retryable) */
  terms(url: string, reason: string, order: PaidOrder): Promise<string>;
  /** Whether a request is this node's own, for an order that nobody has paid: nothing is said of it. */
  isWithheld(id: RequestId): boolean;
  /** An output that was paid for here, and is final by a request that the node has forgotten since.
   *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
  paidBefore(model: ModelId, inputHash: Hex): Promise<PaidOutput | undefined>;
  /** Checks the payment in a header, and that it is not bound to another order.
   *  @throws BaseError PAYMENT_REFUSED, PAYMENT_OTHER_ORDER, PAYMENT_UNBOUND; FACILITATOR_UNREACHABLE (retryable) */
  read(header: string, order: PaidOrder): Promise<SignedPayment>;
  /** Binds a payment to the order of an input, and has the chain asked for its output, unless that is under way.
   *  @returns the order
   *  @throws BaseError PAYMENT_USED, PAYMENT_OWED, PAYER_BUSY, TOO_BUSY, ORDER_REFUSED, CHAIN_NOT_READ_YET */
  place(
    model: ServedModel,
    calldata: Uint8Array,
    output: Uint8Array,
    payment: SignedPayment,
  ): Promise<number>;
  /** The transfer that paid for a request's output here, if that is known. */
  transferOf(request: RequestId): Transfer | undefined;
  /** What became of an order, and of one of its payments. */
  stateOf(order: number, payment: SignedPayment): OrderStatus;
}

export interface HttpLimits extends CallerLimits {
  /** most seconds that anybody waits for finality */
  readonly maxWaitSeconds: number;
  /** seconds after which a run is cancelled */
  readonly runTimeoutSeconds: number;
  /** runs that wait or are under way at once, for callers of HTTP */
  readonly maxRuns: number;
  /** pages that may have work done from a browser; "*": all */
  readonly corsOrigin: readonly string[];
}

/** How a node signs for callers of HTTP. */
export interface Signing {
  readonly node: PromiseNode;
  readonly runs: Runs;
  /** absent: signed answers cost nothing */
  readonly sales?: SignedSales | undefined;
}

export interface HttpParts extends Engines {
  readonly node: NodeView;
  readonly chain: Chain;
  readonly models: ServedModels;
  readonly policy: Policy;
  readonly metrics: Metrics;
  /** false: metrics are served elsewhere */
  readonly hasMetrics: boolean;
  readonly pulse: Pick<NodePulse, "newest" | "silentSinceMs">;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** pause between two looks at the index of who waits for finality */
  readonly pollIntervalMs: number;
  readonly limits: HttpLimits;
  /** absent: nothing costs, and callers file requests on the chain */
  readonly payment?: Payment | undefined;
  /** absent: nothing is signed */
  readonly signing?: Signing | undefined;
  /** aborts when the node stops */
  readonly signal: AbortSignal;
}
