/** Opens wrong promises, keeps their queues moving and books their ends. What they become is disputed as any claim. */
import { type Address, size } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import type { Logger } from "../../base/log.ts";
import type { Action } from "../../protocol/chain/actions.ts";
import type { ClaimEntry, RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { dataFeeOf } from "../../protocol/chain/data-fee.ts";
import { chainError } from "../../protocol/chain/errors.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import { readClaim } from "../../protocol/chain/past.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { min } from "../../protocol/rules/promises/money.ts";
import { stakeOf } from "../../protocol/rules/promises/state.ts";
import type { ClaimId, ModelId } from "../../protocol/rules/types.ts";
import type { Observer } from "../notices.ts";
import type { CoveredModel } from "../reexecute.ts";
import type { PromiseSender } from "../transaction-sender.ts";
import {
  decideLeaf,
  decideSigned,
  type Opened,
  type PromiseDecision,
  type PromiseEnding,
  type PromiseMoveKind,
} from "./decide.ts";
import { depthOf, PromiseFacts, type Read } from "./facts.ts";
import {
  keyOfLeaf,
  type WatchedPromises,
  type WrongEntry,
  type WrongLeaf,
  type WrongSigned,
} from "./store.ts";
import { worthOf } from "./worth.ts";

export interface PromiseMovesParts {
  readonly chain: Chain;
  readonly store: WatchedPromises;
  readonly models: ReadonlyMap<ModelId, CoveredModel>;
  readonly sender: PromiseSender;
  /** Assay's claims, as far as they are held. */
  readonly claims: (
    id: ClaimId,
  ) => { readonly claim: ClaimEntry; readonly request: RequestEntry } | undefined;
  readonly observe: Observer;
  readonly log: Logger;
}

/** Blocks between two tries of a move that was refused or does not pay. */
const RETRY_AFTER = 5n;
/** The same within T of the last second in which it can be made. */
const RETRY_LATE = 1n;

/** What a decision came to. */
interface Planned {
  readonly decision: PromiseDecision;
  readonly action?: Action;
  /** absent: the decision's own */
  readonly move?: PromiseMoveKind;
  /** present where the move puts a deposit down */
  readonly deposit?: bigint;
  /** of that, what counts as filed within an hour */
  readonly counted?: bigint;
  readonly bond: bigint;
  /** until it can be opened no more, seconds */
  readonly left: number;
}

type Ending = Pick<Planned, "action" | "move">;

/** What a step decides from. What all promises of the origin depend on is found out once, where one asks. */
interface Seen {
  readonly head: Head;
  readonly facts: PromiseFacts;
  /** as `PromiseFacts.rivalBonds` says of the origin's prover */
  readonly rivalBonds: () => Promise<bigint>;
  /** as `PromiseFacts.anyStands` says of the origin's batch */
  readonly isDoubted: () => Promise<boolean>;
  /** ends what is over and holds stake of the prover */
  readonly ending: (prover: Address) => Promise<Ending>;
}

export class PromiseMoves {
  readonly #parts: PromiseMovesParts;
  readonly #actions: PromiseActions;
  /** By origin: those of one stake go one after another. */
  readonly #stepping = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #retryAt = new Map<string, bigint>();
  /** What it waits for, so that each reason is said once. */
  readonly #reasons = new Map<string, string>();
  #head: Head | undefined;
  #isStopping = false;

  constructor(parts: PromiseMovesParts) {
    this.#parts = parts;
    const { deployment, game } = parts.chain;
    this.#actions = new PromiseActions(promisesOf(deployment), game);
  }

  /** Steps with everything that is not over. */
  see(head: Head): void {
    this.#head = head;
    for (const [key, at] of this.#retryAt) if (at <= head.number) this.#retryAt.delete(key);
    for (const origin of this.#parts.store.origins()) this.step(origin);
  }

  step(origin: string): void {
    if (this.#isStopping || this.#head === undefined) return;
    if (this.#stepping.has(origin)) {
      this.#again.add(origin);
      return;
    }
    const done = this.#stepAll(origin).finally(() => {
      this.#stepping.delete(origin);
      if (this.#again.delete(origin)) this.step(origin);
    });
    this.#stepping.set(origin, done);
  }

  /** Resolves when no move is under way. */
  async idle(): Promise<void> {
    while (this.#stepping.size > 0) await Promise.all(this.#stepping.values());
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.idle();
  }

  async #stepAll(origin: string): Promise<void> {
    const { store, log, chain, sender } = this.#parts;
    const head = this.#head as Head;
    // One block's word about one stake, for all of them.
    const facts = new PromiseFacts(chain, head, sender.address);
    let rivalBonds: Promise<bigint> | undefined;
    let isDoubted: Promise<boolean> | undefined;
    let ending: Promise<Ending> | undefined;
    const seen: Seen = {
      ...{ head, facts },
      rivalBonds: () => (rivalBonds ??= facts.rivalBonds(this.#rivals(origin), (id) => this.#bondOf(id))),
      isDoubted: () => (isDoubted ??= facts.anyStands(this.#leaves(origin))),
      ending: (prover) => (ending ??= this.#ending(prover, facts)),
    };
    for (const key of store.keysOf(origin)) {
      if (this.#isStopping) return;
      const entry = store.get(key);
      if (entry === undefined || this.#retryAt.has(key)) continue;
      try {
        // What it changed is seen in a later block, and the others are decided from that.
        if (await this.#step(entry, seen)) return;
      } catch (error) {
        const { code, message } = chainError(error, "step with a wrong promise");
        log.warn({ promise: key, code }, message);
      }
    }
  }

  /** @returns whether the chain is another one now */
  async #step(entry: WrongEntry, seen: Seen): Promise<boolean> {
    const { store, models, sender, observe, log } = this.#parts;
    const { key, promise } = entry;
    const { head } = seen;
    const model = models.get(
      promise.kind === "leaf" ? promise.batch.modelId : promise.presented.claim.modelId,
    );
    if (model === undefined) return false;
    const planned =
      promise.kind === "leaf"
        ? await this.#planLeaf(entry, promise, seen, model)
        : await this.#planSigned(entry, promise, seen, model);
    const { decision, action, deposit, counted = 0n } = planned;
    if (decision.kind === "wait") this.#reportWait(key, decision.reason);
    if (decision.kind === "over") {
      this.#over(key, decision.ending, head);
      return false;
    }
    if (action === undefined) return false;
    if (decision.kind === "open" && !(await this.#pays(key, planned, model))) {
      this.#retry(key, planned, head);
      return false;
    }
    const move = planned.move ?? (decision.kind as PromiseMoveKind);
    const about = { promise: key, move };
    // Before it is sent: what is on its way counts after a restart too.
    if (deposit !== undefined) store.deposited(key, deposit);
    const result = await sender.move(
      action,
      about,
      deposit === undefined ? undefined : { key, wei: deposit, counted },
    );
    const isDone = result.status === "sent" || result.status === "already-done";
    observe({ kind: "promise-move", promise: key, move, done: isDone });
    if (result.status === "sent") log.info(about, "moved");
    if (result.status === "withheld") {
      observe({ kind: "promise-withheld", promise: key, reason: result.reason });
    }
    if (result.status === "sent" && move === "takeBack") sender.holds(key, 0n);
    if (result.status === "refused" || result.status === "withheld") {
      if (deposit !== undefined) store.deposited(key, 0n);
      if (deposit !== undefined && result.status === "refused") sender.holds(key, 0n);
      this.#retry(key, planned, head);
    }
    return isDone;
  }

  #retry(key: string, { left }: Planned, { number }: Head): void {
    const isLate = left <= this.#parts.chain.constants.answerSeconds;
    this.#retryAt.set(key, number + (isLate ? RETRY_LATE : RETRY_AFTER));
  }

  #over(key: string, ending: PromiseEnding, head: Head): void {
    const { store, observe, log } = this.#parts;
    store.over(key, head);
    this.#reasons.delete(key);
    observe({ kind: "promise-over", promise: key, ending });
    if (ending === "fallen") log.info({ promise: key, ending }, "a wrong promise is over");
    else log.error({ promise: key, ending }, "a wrong promise is over, and its prover keeps its stake");
  }

  async #planLeaf(
    entry: WrongEntry,
    leaf: WrongLeaf,
    { facts, isDoubted, ending }: Seen,
    model: CoveredModel,
  ): Promise<Planned> {
    const { store } = this.#parts;
    const { key, claimId } = entry;
    const { batch, batchId, index, payload, path } = leaf;
    const read = await facts.ofLeaf(leaf, model, claimId, isDoubted);
    if (read.status === "OPEN" && claimId === undefined) await this.#find(key, facts, leaf);
    this.#hold(entry, read);
    const decision = decideLeaf(read);
    const left = read.batch.windowEnd - read.now;
    const planned = { decision, bond: read.bond, left };
    switch (decision.kind) {
      case "open":
        return {
          ...{ ...planned, deposit: read.deposit, counted: read.counted },
          action: this.#actions.openLeaf(batch, index, payload, path, read.deposit),
        };
      case "nextLeaf": {
        const first = await facts.firstQueued(batchId);
        // Of another's leaf its event has the payload.
        const own = store.get(keyOfLeaf(batchId, first))?.promise;
        const bytes = own?.kind === "leaf" ? own.payload : await facts.payloadOf(batchId, first);
        if (bytes === undefined) return planned;
        return { ...planned, action: this.#actions.nextLeaf(batch, first, bytes) };
      }
      case "dropLeaf":
        return { ...planned, action: this.#actions.dropLeaf(batch, await facts.firstQueued(batchId)) };
      case "close":
        return { ...planned, action: await this.#close(claimId) };
      case "wait":
        return decision.isForStake ? { ...planned, ...(await ending(batch.prover)) } : planned;
      default:
        return planned;
    }
  }

  async #planSigned(
    entry: WrongEntry,
    wrong: WrongSigned,
    { facts, rivalBonds, ending }: Seen,
    model: CoveredModel,
  ): Promise<Planned> {
    const { key, claimId } = entry;
    const { digest, presented } = wrong;
    const read = await facts.ofSigned(wrong, model, claimId, await rivalBonds());
    if (read.status === "OPEN" && claimId === undefined) await this.#find(key, facts, digest);
    this.#hold(entry, read);
    const decision = decideSigned(read);
    const { account } = read;
    // A bond that is too dear now falls to what the stake reaches for, or is never taken.
    const left = read.end - read.now;
    const planned = { decision, bond: min(read.bond, stakeOf(account)), left };
    // A queue's entry moves again at most once a block.
    const occasion = `${this.#head?.number}`;
    switch (decision.kind) {
      case "open":
        return {
          ...{ ...planned, deposit: read.deposit, counted: read.counted },
          action: this.#actions.open(presented, read.deposit, read.shown ? occasion : undefined),
        };
      case "openNext": {
        const head = read.isHead ? presented : account.head && (await facts.presentedOf(account.head));
        if (head === undefined) return planned;
        return { ...planned, action: this.#actions.openNext(head, occasion) };
      }
      case "passNext":
        return { ...planned, action: this.#actions.passNext(presented.claim.prover, digest, occasion) };
      case "takeBack":
        return { ...planned, action: this.#actions.takeBack(digest, occasion) };
      case "close":
        return { ...planned, action: await this.#close(claimId) };
      case "wait":
        return decision.isForStake ? { ...planned, ...(await ending(presented.claim.prover)) } : planned;
      default:
        return planned;
    }
  }

  /** Ends what is over and holds stake of a prover, the oldest first. */
  async #ending(prover: Address, facts: PromiseFacts): Promise<Ending> {
    for (const held of this.#parts.store.stakes.of(prover)) {
      if (!(await facts.isOver(held))) continue;
      return held.kind === "batch"
        ? { move: "release", action: this.#actions.release(held.batch) }
        : { move: "close", action: await this.#close(held.claimId) };
    }
    return {};
  }

  /** Wrong promises of the same stake. */
  #rivals(prover: string) {
    const { store, models } = this.#parts;
    return store.keysOf(prover).flatMap((key) => {
      const { promise, claimId } = store.get(key) ?? {};
      if (promise?.kind !== "signed") return [];
      const model = models.get(promise.presented.claim.modelId);
      return model === undefined ? [] : [{ promise, model, claimId }];
    });
  }

  /** Wrong leaves of one batch. */
  #leaves(batch: string): WrongLeaf[] {
    const { store } = this.#parts;
    return store.keysOf(batch).flatMap((key) => {
      const promise = store.get(key)?.promise;
      return promise?.kind === "leaf" ? [promise] : [];
    });
  }

  /** What of this account stands for it, by the chain's word. */
  #hold({ key, claimId, deposit }: WrongEntry, { status, opener, own, held }: Read<Opened>): void {
    const { store, sender } = this.#parts;
    const wei = opener === own ? held : 0n;
    store.deposited(key, wei);
    // Another opened it before, or it was dropped from its batch and never a claim.
    const isNone = (opener ?? own) !== own || (status === "CLOSED" && claimId === undefined);
    if (deposit > wei && (wei > 0n || isNone)) sender.holds(key, wei);
  }

  async #find(
    key: string,
    facts: PromiseFacts,
    subject: Parameters<PromiseFacts["claimOf"]>[0],
  ): Promise<void> {
    const found = await facts.claimOf(subject);
    if (found !== undefined) this.#parts.store.claimed(key, found.id, found.block);
  }

  async #close(id: ClaimId | undefined): Promise<Action> {
    if (id === undefined) throw new RangeError("a promise that is closed has a claim");
    const { claim, request } = await this.#claim(id);
    return this.#actions.close(request.request, claim.claim);
  }

  /** wei */
  async #bondOf(id: ClaimId): Promise<bigint> {
    return (await this.#claim(id)).claim.claim.bond;
  }

  async #claim(id: ClaimId): Promise<{ readonly claim: ClaimEntry; readonly request: RequestEntry }> {
    const { claims, chain } = this.#parts;
    return claims(id) ?? (await readClaim(chain, id));
  }

  async #pays(key: string, { action, bond }: Planned, model: CoveredModel): Promise<boolean> {
    const { chain, observe, sender } = this.#parts;
    const bytes = action === undefined ? 0 : size(action.data);
    const [gasPrice, dataFee] = await Promise.all([sender.gasPrice(), chain.dataFee.read()]);
    const fee = dataFeeOf(dataFee, bytes);
    const { share, cost } = worthOf({
      ...{ constants: chain.constants, depth: depthOf(model), bond, bytes, gasPrice, dataFee: fee },
    });
    if (share > cost) return true;
    const reason = `opening it would bring ${formatAmount(share)} and cost ${formatAmount(cost)} of gas`;
    if (this.#reportWait(key, reason)) observe({ kind: "promise-withheld", promise: key, reason });
    return false;
  }

  /** @returns true if it was not said before */
  #reportWait(key: string, reason: string): boolean {
    if (this.#reasons.get(key) === reason) return false;
    this.#reasons.set(key, reason);
    this.#parts.log.info({ promise: key, reason }, "a wrong promise waits");
    return true;
  }
}
