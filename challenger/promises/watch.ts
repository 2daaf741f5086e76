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
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import type { Observer } from "../notices.ts";
import { type CoveredModel, compare, type Engines, type Verdict } from "../reexecute.ts";
import type { PromiseSender } from "../transaction-sender.ts";
import { BatchChecker } from "./batches.ts";
import { PromiseMoves, type PromiseMovesParts } from "./moves.ts";
import { keyOfLeaf, type WatchedPromises } from "./store.ts";

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
  #pageBlocks: number = PAGE.first;
  #head: Head | undefined;

  constructor(parts: PromiseWatchParts) {
    this.#parts = parts;
    const { sender } = parts;
    const signal = this.#stopping.signal;
    // Every run that is under way listens.
    setMaxListeners(0, signal);
    this.#moves = sender && new PromiseMoves({ ...parts, sender });
    this.#batches = new BatchChecker({ ...parts, signal, onWrong: (id) => this.#moves?.step(id) });
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
    for (const event of blocks.events) if (event.name === "Queued") this.#checkQueued(event);
    if (blocks.to.number !== blocks.head.number) return;
    this.#head = blocks.head;
    store.forget(blocks.head.number - FORGET_AFTER);
    this.#batches.see(blocks.head);
    this.#moves?.see(blocks.head);
  }

  /** Compares a signed claim that is bound by its signature, and keeps it if it is wrong.
   *  @returns undefined for a model that no folder here holds */
  async check(digest: Digest, presented: Presented): Promise<Verdict | undefined> {
    const { store, models, observe, log } = this.#parts;
    const model = models.get(presented.claim.modelId);
    if (model === undefined) return undefined;
    const { fast, canonical } = this.#parts;
    const stated = {
      ...{ input: fromHex(presented.input), output: fromHex(presented.output), facts: { promise: digest } },
    };
    const engines = { fast, canonical, log, signal: this.#stopping.signal };
    const verdict = await compare(model, stated, engines, (outcome) =>
      observe({ kind: "engine", subject: { promise: digest }, model: model.name, outcome }),
    );
    observe({ kind: "signed-claim", digest, model: model.name, verdict });
    const about = { promise: digest, model: model.name, prover: presented.claim.prover };
    if (verdict.kind !== "wrong") return verdict;
    store.addSigned({ kind: "signed", digest, presented });
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
    switch (event.name) {
      case "Posted":
        this.#posted(event, head);
        return;
      case "Opened":
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
      store.addBatch({ id, batch, block: block.number, windowEnd, data: fromHex(data) });
      return;
    }
    if (!this.#reported.add(id)) return;
    observe({ kind: "uncovered-batch", batch: id, modelId: batch.modelId });
    log.warn({ batch: id, model: batch.modelId }, "a batch is not covered: no folder here has its model");
  }

  /** What waits in a queue is no claim yet, and hides what waits behind it: it is checked now. */
  #checkQueued({ args, transactionHash }: PromiseEventOf<"Queued">): void {
    const { digest, signed: claim, input, output } = args;
    const { chain, store, log } = this.#parts;
    if (store.has(digest)) return;
    this.#checking = this.#checking
      .then(async () => {
        const signature = await signatureIn(chain, transactionHash);
        await this.check(digest, { claim, input, output, signature });
      })
      .catch((error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        const { code, message } = chainError(error, "check a signed claim that waits");
        log.error({ promise: digest, code }, message);
      });
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
