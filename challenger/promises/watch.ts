/** Follows promises: has batches checked, and wrong promises opened and carried to their end. */
import { setMaxListeners } from "node:events";
import { decodeFunctionData, type Hex, isAddressEqual } from "viem";
import { fromHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import { RecentSet } from "../../base/recent.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { chainError } from "../../protocol/chain/errors.ts";
import { type Batch as Blocks, EventFollower, type Head } from "../../protocol/chain/follower.ts";
import {
  type PromiseEvent,
  type PromiseEventOf,
  promiseSource,
} from "../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { iPromisesAbi } from "../../protocol/rules/generated/abis.ts";
import { RULES } from "../../protocol/rules/machine.ts";
import { turnSeconds } from "../../protocol/rules/promises/limits.ts";
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { ChainClock } from "../../protocol/service/metrics/chain-clock.ts";
import type { Observer } from "../notices.ts";
import { type CoveredModel, compare, type Engines, type Verdict } from "../reexecute.ts";
import type { PromiseSender } from "../transaction-sender.ts";
import { BatchChecker } from "./batches.ts";
import { depthOf } from "./facts.ts";
import { PromiseMoves, type PromiseMovesParts } from "./moves.ts";
import { keyOfLeaf, type ReportLimits, type WatchedPromises } from "./store.ts";

export interface PromiseWatchParts extends Omit<Engines, "signal"> {
  readonly chain: Chain;
  readonly store: WatchedPromises;
  readonly models: ReadonlyMap<ModelId, CoveredModel>;
  /** absent: watch only */
  readonly sender?: PromiseSender | undefined;
  readonly claims: PromiseMovesParts["claims"];
  readonly observe: Observer;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
}

/** Of what somebody handed over. */
export interface Report {
  /** wei that could be taken by it */
  readonly strength: bigint;
  readonly limits: ReportLimits;
}

/** Blocks that are read at once: as many as keep the data of their batches small, whoever posts them. */
const PAGE = { first: 4, most: 2_000 } as const;
/** Characters of hex of one page's batches: above it pages become shorter, below a quarter of it longer. */
const PAGE_DIGITS = 2 ** 20;
/** Blocks after which what is over is forgotten; deeper than re-orgs go. */
const FORGET_AFTER = 256n;
const MAX_REPORTED = 10_000;

export class PromiseWatch {
  readonly #parts: PromiseWatchParts;
  readonly #stopping = new AbortController();
  readonly #batches: BatchChecker;
  readonly #moves: PromiseMoves | undefined;
  readonly #reported = new RecentSet<string>(MAX_REPORTED);
  #checking: Promise<unknown> = Promise.resolve();
  /** Those that wait in queues and are being compared. */
  readonly #comparing = new Set<Digest>();
  /** Workers whose word counts no more. */
  readonly #barred = new Set<string>();
  readonly #clock: ChainClock;
  #pageBlocks: number = PAGE.first;
  #head: Head | undefined;

  constructor(parts: PromiseWatchParts) {
    this.#parts = parts;
    const { sender } = parts;
    const signal = this.#stopping.signal;
    // Every run that is under way listens.
    setMaxListeners(0, signal);
    this.#moves = sender && new PromiseMoves({ ...parts, sender });
    this.#clock = new ChainClock(parts.nowMs);
    this.#batches = new BatchChecker({
      ...{ ...parts, signal, barred: this.#barred, now: () => this.#clock.now },
      onWrong: (id) => this.#moves?.step(id),
    });
  }

  /** The newest block that was looked at. */
  get head(): Head | undefined {
    return this.#head;
  }

  /** Until the signal aborts; then ends what it began. */
  async run(signal: AbortSignal): Promise<void> {
    const { chain, store, pollIntervalMs, confirmations, log } = this.#parts;
    const follower = new EventFollower<PromiseEvent>(
      chain,
      { pollIntervalMs, confirmations, log, cursor: store.cursor(), maxBlocks: () => this.#pageBlocks },
      promiseSource(chain.deployment),
    );
    await follower.run((blocks) => this.take(blocks), signal);
    await this.stop();
  }

  /** Resolves when no check and no move is under way. */
  async idle(): Promise<void> {
    await this.#checking;
    await this.#batches.idle();
    await this.#moves?.idle();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#batches.idle(), this.#moves?.stop(), this.#checking]);
  }

  /** Consumer of an EventFollower. */
  take(blocks: Blocks<PromiseEvent>): void {
    const { store } = this.#parts;
    if (blocks.kind === "rollback") {
      store.advance(blocks.cursor, () => store.takeBack(blocks.ancestor));
      return;
    }
    this.#size(blocks.events);
    store.advance(blocks.cursor, () => {
      for (const event of blocks.events) this.#keep(event, blocks.head);
    });
    if (blocks.to.number !== blocks.head.number) return;
    this.#head = blocks.head;
    this.#clock.see(blocks.head);
    store.forget(blocks.head.number - FORGET_AFTER, blocks.head.timestamp);
    this.#checkQueued(blocks.head);
    this.#batches.see(blocks.head);
    this.#moves?.see(blocks.head);
    // Who only watches does not follow what becomes of one: by then it is decided.
    if (this.#moves === undefined) store.endBefore(blocks.head.timestamp - this.#afterEnd, blocks.head);
  }

  /** A worker lied: what was found right on its word is checked again, by the canonical executor of this machine. */
  distrust(worker: string): void {
    this.#barred.add(worker);
    const promises = this.#parts.store.words.distrust(worker);
    if (promises === 0) return;
    this.#parts.log.warn({ worker, promises }, "promises that a barred worker found right are checked again");
    this.#batches.again();
    if (this.#head !== undefined) this.#checkQueued(this.#head);
  }

  /** Compares a signed claim that is bound by its signature, and keeps it if it is wrong.
   *  @param report absent: it waits in a queue
   *  @param mustRunHere true: the canonical executor of this machine compares it
   *  @returns undefined for a model that no folder here holds */
  async check(
    digest: Digest,
    presented: Presented,
    report?: Report,
    mustRunHere = false,
  ): Promise<Verdict | undefined> {
    const { store, models, observe, log } = this.#parts;
    const covered = models.get(presented.claim.modelId);
    if (covered === undefined) return undefined;
    const model = mustRunHere ? { ...covered, isQuick: true } : covered;
    const { fast, canonical } = this.#parts;
    const stated = {
      ...{ input: fromHex(presented.input), output: fromHex(presented.output), facts: { promise: digest } },
    };
    const engines = { fast, canonical, log, signal: this.#stopping.signal };
    const verdict = await compare(model, stated, engines, (outcome) =>
      observe({ kind: "engine", subject: { promise: digest }, model: model.name, outcome }),
    );
    // What somebody hands over is not kept where it is right, so it could not be checked again.
    const { workers = [] } = verdict.kind === "right" ? verdict : {};
    if (workers.some((worker) => report !== undefined || this.#barred.has(worker)))
      return this.check(digest, presented, report, true);
    observe({ kind: "signed-claim", digest, model: model.name, verdict });
    const about = { promise: digest, model: model.name, prover: presented.claim.prover };
    if (verdict.kind !== "wrong") return verdict;
    const wrong = { kind: "signed", digest, presented } as const;
    if (report === undefined) store.addSigned(wrong);
    else if (!store.addReported(wrong, report.strength, report.limits)) return verdict;
    log.warn({ ...about, claimed: presented.output, honest: verdict.honest }, "a signed claim is wrong");
    this.#moves?.step(presented.claim.prover);
    return verdict;
  }

  /** Chooses the length of the next page. */
  #size(events: readonly PromiseEvent[]): void {
    const digits = events.reduce(
      (sum, event) => sum + (event.name === "Posted" ? event.args.data.length : 0),
      0,
    );
    if (digits > PAGE_DIGITS) this.#pageBlocks = Math.max(1, this.#pageBlocks >> 1);
    else if (digits < PAGE_DIGITS / 4) this.#pageBlocks = Math.min(PAGE.most, 2 * this.#pageBlocks);
  }

  #keep(event: PromiseEvent, head: Head): void {
    const { store } = this.#parts;
    store.stakes.apply(event);
    switch (event.name) {
      case "Posted":
        this.#posted(event, head);
        return;
      case "Queued": {
        const { digest, signed: claim, input, output } = event.args;
        const { number: block } = event.block;
        store.queued({ digest, claim, input, output, block, transactionHash: event.transactionHash });
        return;
      }
      case "TakenBack":
        store.queue.drop(event.args.digest);
        return;
      case "Opened":
        store.queue.drop(event.args.digest);
        store.claimed(event.args.digest, event.args.claimId, event.block.number);
        return;
      case "LeafOpened": {
        const { batchId, index, claimId } = event.args;
        store.claimed(keyOfLeaf(batchId, Number(index)), claimId, event.block.number);
        return;
      }
      default:
        return;
    }
  }

  #posted({ args, block }: PromiseEventOf<"Posted">, head: Head): void {
    const { store, models, observe, log } = this.#parts;
    const { batchId: id, batch, windowEnd, data } = args;
    // A window that is over at the first start binds nobody.
    if (windowEnd <= head.timestamp) return;
    if (models.has(batch.modelId)) {
      store.batches.add({ id, batch, block: block.number, windowEnd, data: fromHex(data) });
      return;
    }
    if (!this.#reported.add(id)) return;
    observe({ kind: "uncovered-batch", batch: id, modelId: batch.modelId });
    log.warn({ batch: id, model: batch.modelId }, "a batch is not covered: no folder here has its model");
  }

  /** What waits in a queue is no claim yet, and hides what waits behind it: it is compared now, and again until it could
   *  be or waits no more. */
  #checkQueued(head: Head): void {
    const { chain, store, log } = this.#parts;
    for (const { digest, transactionHash, mustRunHere, ...stated } of store.queue.at(head)) {
      if (this.#comparing.has(digest)) continue;
      this.#comparing.add(digest);
      const about = { promise: digest };
      this.#checking = this.#checking
        .then(async () => {
          if (this.#stopping.signal.aborted) return;
          const { claim, input, output } = stated;
          const signature = await signatureIn(chain, transactionHash);
          const presented = { claim, input, output, signature };
          const verdict = await this.check(digest, presented, undefined, mustRunHere);
          if (verdict?.kind === "could-not-check") {
            log.warn({ ...about, reason: verdict.reason }, "a signed claim that waits could not be checked");
            store.queue.postpone(digest, head);
          } else if (verdict?.kind === "right" && verdict.workers !== undefined) {
            store.words.add(digest, verdict.workers);
            store.queue.keep(digest);
          } else store.queue.drop(digest);
        })
        .catch((error: unknown) => {
          if (this.#stopping.signal.aborted) return;
          const { code, message } = chainError(error, "check a signed claim that waits");
          log.error({ ...about, code }, message);
          store.queue.postpone(digest, head);
        })
        .finally(() => this.#comparing.delete(digest));
    }
  }

  /** In which what was opened in the last second is decided, seconds. */
  get #afterEnd(): number {
    const { chain, models } = this.#parts;
    const { answerSeconds } = chain.constants;
    const depth = Math.max(0, ...[...models.values()].map(depthOf));
    return turnSeconds(answerSeconds) + RULES.disputeSeconds(depth, answerSeconds);
  }
}

/** The signature by which a signed claim was opened: what is taken back is opened again by it.
 *  @returns no bytes where another contract made the call */
async function signatureIn({ client, deployment }: Chain, hash: Hex): Promise<Hex> {
  const { to, input } = await client.getTransaction({ hash });
  if (to === null || !isAddressEqual(to, promisesOf(deployment).promises)) return "0x";
  const call = decodeFunctionData({ abi: iPromisesAbi, data: input });
  return call.functionName === "open" ? call.args[1] : "0x";
}
