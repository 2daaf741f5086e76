/** Final outputs that callers of HTTP pay for: a payment is bound to its order before the order costs gas, and taken
 *  when the output is final, whether or not its payer still waits. docs/X402.md has the rules. */
import { type Hex, keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import type { PaidOrder } from "../../protocol/rules/paid-order.ts";
import type { Payment as Transfer } from "../../protocol/rules/receipt/record.ts";
import type { ModelId, RequestId } from "../../protocol/rules/types.ts";
import { claimGas } from "../costs.ts";
import { type Policy, truthFor } from "../decide.ts";
import { notReadYet } from "../http/chain.ts";
import { finalityOf } from "../http/finality.ts";
import type { NodeView, OrderStatus, PaidOutput, Payment } from "../http/parts.ts";
import type { OrderEnd } from "../metrics.ts";
import type { ServedModel, ServedModels } from "../models.ts";
import { requireCapacity } from "./capacity.ts";
import { fileRequest, OWN_REQUEST_SECONDS, type OwnRequest, ownRequest } from "./file-request.ts";
import type { Order, OrderStore } from "./order-store.ts";
import { readPayment } from "./read-payment.ts";
import { type Recorded, recordExtension } from "./record-extension.ts";
import type { PaymentService, SignedPayment } from "./service.ts";

/** Blocks in which request, claim and end are included, seconds. */
const INCLUSION_SECONDS = 10;
/** Pause after an answer of the facilitator that decided nothing, ms. */
const AGAIN_MS = 5_000;
/** How long a transfer may be found impossible without a reason before that is the payer's, ms. */
const DOUBT_MS = 30_000;

/** After which a request that was sent and is not on the chain comes no more, seconds: nobody could claim it. */
const LOST_SECONDS = OWN_REQUEST_SECONDS + 60;
/** After which an order whose request the index does not know was not overlooked, seconds. */
const FORGOTTEN_SECONDS = 3_600;

export interface OrderParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly node: Pick<NodeView, "index" | "head" | "state" | "termsOf">;
  readonly models: ServedModels;
  readonly policy: Policy;
  /** false: this node claims nothing, and only the orders that it has are brought to their end */
  readonly claims: boolean;
  readonly store: OrderStore;
  readonly service: PaymentService;
  readonly offer: Payment["offer"];
  readonly pollIntervalMs: number;
  /** told how each order ended */
  readonly onEnd: (end: OrderEnd) => void;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export class Orders implements Payment {
  readonly offer: Payment["offer"];
  readonly #parts: OrderParts;
  /** Requests that are on their way to the chain. */
  readonly #filing = new Set<RequestId>();
  /** Own requests that the index did not know when it was last looked at. */
  readonly #coming = new Map<RequestId, OwnRequest>();
  /** Payments that are being taken, by order. */
  readonly #taking = new Map<number, Promise<void>>();
  /** ms before which an order's payment is not asked for again */
  readonly #again = new Map<number, number>();

  /** ms since which a transfer is found impossible without a reason, by order and nonce of its payer */
  readonly #doubtful = new Map<number, Map<string, number>>();

  constructor(parts: OrderParts) {
    this.#parts = parts;
    this.offer = parts.offer;
  }

  leastSeconds(model: ServedModel): number {
    const { node, chain } = this.#parts;
    const terms = node.termsOf(model);
    const truth = truthFor(terms, terms.lanes);
    const isAtOnce = truth !== undefined && truth.gas < claimGas(terms);
    return INCLUSION_SECONDS + (isAtOnce ? 0 : 4 * chain.constants.answerSeconds);
  }

  terms(url: string, reason: string, order: PaidOrder): Promise<string> {
    return this.#parts.service.terms(url, reason, order);
  }

  transferOf(request: RequestId): Transfer | undefined {
    const { store, service } = this.#parts;
    const receipt = store.receiptOf(request);
    return receipt === undefined ? undefined : service.transferIn(receipt);
  }

  isWithheld(request: RequestId): boolean {
    return this.#parts.store.isUnpaid(request);
  }

  async paidBefore(model: ModelId, inputHash: Hex): Promise<PaidOutput | undefined> {
    const { node, store, chain } = this.#parts;
    const { request, outputHash } = store.paid(model, inputHash) ?? {};
    if (request === undefined || outputHash === undefined || node.index.requests.has(request))
      return undefined;
    // A re-org that went deeper than this node's confirmations is no finality.
    const { state } = await new StateReader(chain).requestWord(request);
    return state === "DONE" ? { request, outputHash } : undefined;
  }

  /** @throws BaseError as readPayment does */
  async read(header: string, order: PaidOrder): Promise<SignedPayment> {
    const { service } = this.#parts;
    const isHeld = (payment: SignedPayment) => this.#isHeld(payment);
    const payment = await readPayment(service, header, order, isHeld, () => this.#now());
    if (isHeld(payment)) return payment;
    // One that ends later would be asked for, and be in others' way, until then.
    return { ...payment, validUntil: Math.min(payment.validUntil, this.#now() + service.validSeconds) };
  }

  async place(
    model: ServedModel,
    calldata: Uint8Array,
    output: Uint8Array,
    payment: SignedPayment,
  ): Promise<number> {
    const { chain, node, store, policy } = this.#parts;
    const [inputHash, outputHash] = [keccak256(calldata), keccak256(output)];
    const wanted = { model: model.id, inputHash, outputHash };
    const isAsked = finalityOf(node.index, model.id, inputHash, outputHash).status !== "unverified";
    const isOrdered = store.current(model.id, inputHash) !== undefined;
    const own =
      isAsked || isOrdered ? undefined : await ownRequest(chain, { node, policy }, model, toHex(calldata));
    if (own !== undefined) {
      this.#requireCapacity(own);
      this.#filing.add(own.id);
    }
    try {
      const { order, isNew } = store.place(wanted, payment, own?.id, this.#now());
      if (own !== undefined && isNew) await this.#file(order, own);
      return order.id;
    } finally {
      if (own !== undefined) this.#filing.delete(own.id);
    }
  }

  stateOf(id: number, { payer, nonce }: SignedPayment): OrderStatus {
    const { store } = this.#parts;
    const order = store.get(id);
    const own = store.payments(id).find((held) => held.payer === payer && held.nonce === nonce);
    return {
      state: order?.state ?? "void",
      ...(own?.receipt ? { receipt: own.receipt } : {}),
      ...(own?.reason ? { reason: own.reason } : {}),
    };
  }

  /** Follows the orders until the signal aborts, then waits for what the facilitator was asked. */
  async run(signal: AbortSignal): Promise<void> {
    const { pollIntervalMs } = this.#parts;
    while (!signal.aborted) {
      await this.tick();
      await pause(pollIntervalMs, signal);
    }
    await this.settled();
  }

  /** One look at every order that is not over. */
  async tick(): Promise<void> {
    const { store, log } = this.#parts;
    for (const order of store.open()) {
      if (this.#taking.has(order.id)) continue;
      try {
        const end = await this.#endOf(order);
        if (end === "final") this.#collect(order);
        if (end === "void") this.#end(order, "void");
      } catch (error) {
        log.warn({ order: order.id, error }, "an order could not be looked at; looking again");
      }
    }
  }

  /** Resolves when no payment is being taken. */
  async settled(): Promise<void> {
    await Promise.all(this.#taking.values());
  }

  #isHeld({ payer, nonce, signed }: SignedPayment): boolean {
    const order = this.#parts.store.orderOf({ payer, nonce });
    const held = order && this.#parts.store.payments(order.id);
    return held?.some((other) => other.payer === payer && other.signed === signed) ?? false;
  }

  /** @throws BaseError TOO_BUSY, ORDER_REFUSED */
  #requireCapacity(own: OwnRequest): void {
    const { node, models, policy, claims } = this.#parts;
    if (!claims) throw noneTaken();
    const { index, state } = node;
    if (state === undefined) throw notReadYet();
    for (const id of this.#coming.keys()) if (index.requests.has(id)) this.#coming.delete(id);
    const termsOf = (model: ServedModel) => node.termsOf(model);
    requireCapacity(own, [...this.#coming.values()], { index, state, models, termsOf, policy });
  }

  /** @throws BaseError as fileRequest does; then nothing is owed */
  async #file(order: Order, own: Parameters<typeof fileRequest>[2]): Promise<void> {
    const { chain, sender } = this.#parts;
    this.#coming.set(own.id, own);
    try {
      await fileRequest(chain, sender, own);
    } catch (error) {
      this.#end(order, "void");
      throw error;
    }
  }

  /** By what its output is final. */
  #recorded({ model, inputHash, outputHash, request }: Order): Recorded {
    const finality = finalityOf(this.#parts.node.index, model, inputHash, outputHash);
    if (finality.status === "final") return { request: finality.request, claim: finality.claim };
    if (request === undefined) throw new TypeError("An output that no request of the index made final.");
    // Its own, which the index has forgotten.
    return { request };
  }

  /** Final, or void because it cannot become final by the request that it waits for. */
  async #endOf(order: Order): Promise<"final" | "void" | undefined> {
    const { node, chain, sender } = this.#parts;
    const { request: id, model, inputHash, outputHash } = order;
    const { index, head } = node;
    const { status } = finalityOf(index, model, inputHash, outputHash);
    if (status === "final") return "final";
    if (head === undefined || (id !== undefined && this.#filing.has(id))) return undefined;
    if (id === undefined) return status === "unverified" ? "void" : undefined;
    const entry = index.requests.get(id);
    // Done with another output, or given back.
    if (entry?.status === "done" || entry?.status === "refunded") return "void";
    if (entry?.status === "open") return head.timestamp > entry.request.expiry ? "void" : undefined;
    if (entry !== undefined) return undefined;
    // The node was ended before it was sent, or it is not followed yet, or over for so long that it is forgotten.
    const { state } = await new StateReader(chain).requestWord(id);
    // What was sent may have been re-organized away for a moment, or the chain's node lies behind.
    if (state === "NONE")
      return sender.isFollowed(`request:${id}`) && this.#now() < order.placedAt + LOST_SECONDS
        ? undefined
        : "void";
    return state === "DONE" && this.#now() > order.placedAt + FORGOTTEN_SECONDS ? "final" : undefined;
  }

  #collect(order: Order): void {
    const { nowMs, log } = this.#parts;
    if (nowMs() < (this.#again.get(order.id) ?? 0)) return;
    const of = this.#recorded(order);
    const taking = this.#take(order, of)
      .catch((error: unknown) => log.error({ order: order.id, error }, "a payment could not be taken"))
      .finally(() => this.#taking.delete(order.id));
    this.#taking.set(order.id, taking);
  }

  /** Takes the price from the first of the payers whose payment can be taken. */
  async #take(order: Order, of: Recorded): Promise<void> {
    const { store, service, log, nowMs } = this.#parts;
    for (const held of store.payments(order.id)) {
      // While others were asked for, its payer may have given a new one instead.
      const payment = store.ask(order.id, held);
      if (payment === undefined) continue;
      const result = await service.settle(payment, recordExtension(of));
      const facts = { order: order.id, request: of.request, payer: payment.payer };
      if (result.status === "taken") {
        store.taken({ ...order, request: of.request }, payment, result.receipt, this.#now());
        log.info({ ...facts, transaction: result.transaction }, "a final output was paid for");
        return this.#ended(order, "paid");
      }
      const { reason, status } = result;
      const wasAsked = payment.state === "asked" || status === "unknown";
      const isOver =
        this.#now() > payment.validUntil ||
        status === "refused" ||
        (status === "doubtful" && (wasAsked || this.#isBeyondDoubt(order, payment)));
      if (isOver && wasAsked) {
        // Asked before, without an answer: what cannot be taken now may have been taken then.
        store.taken({ ...order, request: of.request }, payment, null, this.#now(), `not known: ${reason}`);
        log.warn({ ...facts, reason }, "whether a payment was taken is not known; it counts as taken");
        return this.#ended(order, "paid");
      }
      if (isOver) {
        store.refused(payment, reason);
        log.warn({ ...facts, reason }, "a payment can not be taken");
        continue;
      }
      this.#again.set(order.id, nowMs() + AGAIN_MS);
      log.warn({ ...facts, reason }, "a payment could not be taken yet; asking again");
      // Nobody else pays for what one may have paid for.
      if (wasAsked) return;
      store.held(payment);
    }
    if (store.payments(order.id).every(({ state }) => state === "refused")) this.#end(order, "unpaid");
  }

  #isBeyondDoubt({ id }: Order, { payer, nonce }: SignedPayment): boolean {
    const since = this.#doubtful.get(id) ?? new Map<string, number>();
    this.#doubtful.set(id, since);
    const first = since.get(`${payer} ${nonce}`) ?? this.#parts.nowMs();
    since.set(`${payer} ${nonce}`, first);
    return this.#parts.nowMs() >= first + DOUBT_MS;
  }

  #end(order: Order, state: "unpaid" | "void"): void {
    if (order.request !== undefined) this.#coming.delete(order.request);
    this.#parts.store[state](order, this.#now());
    this.#ended(order, state);
  }

  #ended({ id }: Order, state: OrderEnd): void {
    this.#again.delete(id);
    this.#doubtful.delete(id);
    this.#parts.onEnd(state);
  }

  #now(): number {
    return this.#parts.nowMs() / 1_000;
  }
}

const noneTaken = () =>
  new BaseError({
    code: "ORDER_REFUSED",
    shortMessage: "This node claims nothing at present, and takes no orders.",
    nextStep: "Ask another node; nothing was taken.",
  });
