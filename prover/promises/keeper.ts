/** What a prover's stake and batches need on the chain, derived anew at each block: its key bound, batches posted, claims
 *  of promises closed, what waits for stake brought forward, slots released. Each move is sent once, by its key. */
import { formatAmount } from "../../base/amounts.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import type { Action } from "../../protocol/chain/actions.ts";
import { chainError } from "../../protocol/chain/errors.ts";
import { type PromiseActions, postingKey } from "../../protocol/chain/promises/actions.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import { PROMISE_LIMITS, turnSeconds } from "../../protocol/rules/promises/limits.ts";
import type { PromisesAddress } from "../../protocol/rules/promises/signed-claim.ts";
import type { ClaimId, ModelId } from "../../protocol/rules/types.ts";
import type { ModelWord } from "../../protocol/rules/words.ts";
import { adoptBatch, dueLeaves, makeBatch } from "./batches.ts";
import type { JournalledBatch, WaitingLeaf } from "./journal/journal.ts";
import type { PromiseParts } from "./parts.ts";
import { type StakeState, slotsOf, spareStake } from "./terms.ts";

export interface KeeperParts extends PromiseParts {
  readonly actions: PromiseActions;
  readonly at: PromisesAddress;
  /** of registered models */
  readonly words: ReadonlyMap<ModelId, ModelWord>;
}

/** For how long a key is bound, and when it is bound anew, seconds. */
const BOUND_SECONDS = 30 * 86_400;
const RENEW_SECONDS = 7 * 86_400;
const DAY_SECONDS = 86_400;
/** Batches that are made and not posted yet, at most. */
const MAX_UNPOSTED = 4;
/** After a refusal, ms: the state that it came from changes with blocks. */
const REFUSED_AFTER_MS = 2_000;
/** After which signed claims that ended are forgotten, seconds, and how often that is looked at. */
const KEPT_SECONDS = 2 * 86_400;
const PRUNE_EVERY_SECONDS = 3_600;

interface RunningBatch {
  readonly batch: Batch;
  /** seconds */
  readonly windowEnd: number;
}

export class Keeper {
  readonly #parts: KeeperParts;
  /** own batches whose slots are not released, without their data */
  readonly #batches = new Map<BatchId, RunningBatch>();
  /** own batches that are final, with nothing left to release: the end of their windows, seconds */
  readonly #ended = new Map<BatchId, number>();
  /** own batches of which a leaf ever waited for stake */
  readonly #queued = new Set<BatchId>();
  /** claims of own promises that are not closed */
  readonly #open = new Set<ClaimId>();
  readonly #sending = new Map<string, Promise<void>>();
  readonly #notBefore = new Map<string, number>();
  #turn: Promise<unknown> = Promise.resolve();
  #prunedAt = 0;
  #missing = 0n;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#rebuild();
  }

  /** Batches that are running, and claims of promises that are not closed. */
  get counts(): { readonly batches: number; readonly open: number } {
    return { batches: this.#batches.size, open: this.#open.size };
  }

  /** Stake that the next batch lacks, wei, while all of it is at home: without it none is posted. */
  get missingStake(): bigint {
    return this.#missing;
  }

  /** The store holds them already, and nothing else that is new. */
  async take(events: readonly PromiseEvent[]): Promise<void> {
    for (const event of events) {
      this.#apply(event);
      if (event.name === "Posted" && this.#batches.has(event.args.batchId))
        await this.#parts.signer.markPosted(fromHex(event.args.batchId));
    }
  }

  /** The store may have lost events that were taken here. */
  async takeAgain(): Promise<void> {
    this.#rebuild();
    await this.#unpost();
    await this.#markPosted();
  }

  /** At the start, once all events are there: batches that the journal does not know were posted after its backup. */
  async compare(): Promise<void> {
    const { journal, signer, words, log, promises, chain } = this.#parts;
    // Those with released slots too: their leaves are on the chain all the same.
    for (const posted of promises.ofProver(chain.account.address, "Posted")) {
      const { batchId, batch } = posted.args;
      const word = words.get(batch.modelId);
      if (journal.batch(batchId) !== undefined || word === undefined) continue;
      await signer.keepBatch(adoptBatch(posted, word, journal.waiting(batch.modelId, -1)));
      log.warn({ batch: batchId, leaves: batch.count }, "a batch on the chain was not in the journal");
    }
    await this.#unpost();
    await this.#markPosted();
  }

  /** What the chain has: also what another daemon of this key posted before this one had made it. */
  async #markPosted(): Promise<void> {
    const { journal, signer, promises } = this.#parts;
    for (const { id } of journal.unposted())
      if (promises.eventsOf(id, "Posted").length > 0) await signer.markPosted(fromHex(id));
  }

  /** What the journal has as posted and the chain has not is sent again, under the same id: a re-org took it away, and its
   *  transaction need not come back by itself. */
  async #unpost(): Promise<void> {
    const { journal, signer, promises } = this.#parts;
    for (const id of journal.posted()) {
      if (this.#ended.has(id) || promises.eventsOf(id, "Posted").length > 0) continue;
      await signer.markUnposted(fromHex(id));
    }
  }

  /** Starts what is to be done. One look at a time.
   *  @param now seconds, not before the head's */
  keep(state: StakeState, now: number): Promise<void> {
    const next = this.#turn.then(() => this.#keep(state, now));
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async stop(): Promise<void> {
    await this.#turn;
    await Promise.all(this.#sending.values());
  }

  async #keep(state: StakeState, now: number): Promise<void> {
    this.#bind(state, now);
    this.#close();
    await Promise.all([this.#bringForward(state), this.#keepBatches(state, now)]);
    await this.#post(state, now);
    if (now >= this.#prunedAt + PRUNE_EVERY_SECONDS) {
      this.#prunedAt = now;
      await this.#prune(now - KEPT_SECONDS);
    }
  }

  /** Forgets answers that ended before this second, whether or not they came into a batch, and final batches of which no
   *  answer is kept. The chain has nothing of them that could still be asked for. */
  async #prune(before: number): Promise<void> {
    const { signer, promises, journal } = this.#parts;
    await signer.prune(before);
    for (const [id, windowEnd] of this.#ended) {
      if (windowEnd >= before || journal.holdsLeavesOf(id)) continue;
      // Its events last: what they alone have is found at the next start.
      await signer.forgetBatch(fromHex(id));
      promises.forget(id);
      this.#ended.delete(id);
    }
  }

  /** The key binds the stake for a month, again and again; one that its prover has unbound stays so. */
  #bind({ boundUntil, account, prover }: StakeState, now: number): void {
    const { actions, key, promises } = this.#parts;
    if (boundUntil >= now + RENEW_SECONDS || account.free === 0n) return;
    const set = [...promises.ofProver(prover, "SignerSet")].filter(({ args }) => args.key === key);
    const latest = set.at(-1)?.args.until ?? 0;
    // INVARIANT: who has shortened a key's time holds it for stolen.
    if (set.some(({ args }) => args.until > latest)) return;
    // To the day: the same key again is the same transaction.
    const until = Math.ceil((now + BOUND_SECONDS) / DAY_SECONDS) * DAY_SECONDS;
    this.#send(actions.setSigner(key, until), { move: "setSigner", key, prover, until });
  }

  #close(): void {
    const { store, actions } = this.#parts;
    for (const id of this.#open) {
      const found = store.index.claimAndRequest(id);
      if (found === undefined || found.claim.status === "active") continue;
      const action = actions.close(found.request.request, found.claim.claim);
      this.#send(action, { move: "close", claim: id, status: found.claim.status });
    }
  }

  /** The first of this prover's queue: what is right need not wait. */
  async #bringForward({ account }: StakeState): Promise<void> {
    const { promises, actions } = this.#parts;
    if (account.head === undefined) return;
    const queued = promises.eventsOf(account.head, "Queued").at(-1);
    if (queued === undefined) return;
    const { signed: claim, input, output } = queued.args;
    const action = actions.openNext({ claim, input, output }, `${queued.block.number}`);
    this.#send(action, { move: "openNext", digest: account.head });
  }

  async #keepBatches({ head }: StakeState, now: number): Promise<void> {
    const { chain, promises, actions } = this.#parts;
    const reader = new PromiseStateReader(chain, head.hash);
    for (const [id, { batch, windowEnd }] of this.#batches) {
      const isOver = now >= windowEnd;
      if (!isOver && !this.#queued.has(id)) continue;
      const state = await reader.batch(id);
      if (state === undefined) continue;
      if (state.idle > 0 && (state.fallen || (isOver && state.open === 0)))
        this.#send(actions.release(batch), { move: "release", batch: id });
      if (state.queued === 0 || state.fallen) continue;
      const index = await reader.firstQueuedLeaf(id);
      const waiting = promises.eventsOf(id, "LeafQueued").find((event) => Number(event.args.index) === index);
      if (waiting === undefined) continue;
      const action = actions.nextLeaf(batch, index, waiting.args.payload);
      this.#send(action, { move: "nextLeaf", batch: id, index });
    }
  }

  /** Journals the batches that are due, then sends whatever the chain does not have. The stake that a batch sets aside
   *  is missing for promises until its window is over: it waits while answers could not be signed on without it. */
  async #post(state: StakeState, now: number): Promise<void> {
    await this.#markPosted();
    const { journal, signer, terms, words, actions, chain } = this.#parts;
    const { account, prover, baseFee } = state;
    // Refused anyway: while a promise waits nothing is set apart.
    if (account.head !== undefined) return;
    let spare = spareStake(state, [...words.values()], chain.constants, terms);
    const isAtHome = account.slots === 0n && account.away === 0n;
    let missing = 0n;
    let room = MAX_UNPOSTED;
    const post = ({ id, batch, leafBond }: Omit<JournalledBatch, "data">, word: ModelWord): void => {
      room -= 1;
      spare -= slotsOf(word, { count: batch.count, leafBond }, baseFee, chain.constants);
      if (spare < 0n) {
        if (missing === 0n) missing = -spare;
        return;
      }
      // Its data are read and encoded once for each try to send it.
      if (!this.#mayBegin(postingKey(id))) return;
      const { data } = journal.batch(id) as JournalledBatch;
      const { modelId, window, count } = batch;
      const action = actions.post(batch, { prover, modelId, window, leafBond, data: toHex(data) });
      this.#send(action, { move: "post", batch: id, leaves: count });
    };
    for (const made of journal.unposted()) {
      const word = words.get(made.batch.modelId);
      if (word !== undefined) post(made, word);
    }
    const window = terms.batchWindow ?? turnSeconds(chain.constants.answerSeconds);
    const { leafBond } = terms;
    for (const [modelId, word] of words) {
      while (room > 0) {
        const leaves = dueLeaves(journal.waiting(modelId, terms.batchSize), now, terms);
        const slots = slotsOf(word, { count: leaves.length, leafBond }, baseFee, chain.constants);
        if (leaves.length === 0) break;
        if (slots > spare) {
          // Behind another batch it waits for that one.
          if (room === MAX_UNPOSTED) missing = slots - spare;
          break;
        }
        const { id, batch, made } = await this.#newBatch(state, { modelId, window, leafBond }, leaves);
        await signer.keepBatch(made);
        post({ id, batch, leafBond }, word);
      }
    }
    // While stake is away or set apart it comes back.
    this.#lack(isAtHome ? missing : 0n);
  }

  /** The same leaves may have been posted before, by this process or another, and then they are in that batch. Where it is
   *  forgotten here nothing says so, and the chain takes its id no second time: with another window, by a second, they are
   *  another batch. */
  async #newBatch(
    { head, prover }: StakeState,
    { modelId, window: wanted, leafBond }: Omit<Parameters<typeof makeBatch>[1], "prover">,
    leaves: readonly WaitingLeaf[],
  ): Promise<ReturnType<typeof makeBatch>> {
    const { at, chain, journal, promises } = this.#parts;
    const isKnown = (id: BatchId) =>
      journal.batch(id) !== undefined || promises.eventsOf(id, "Posted").length > 0;
    const reader = new PromiseStateReader(chain, head.hash);
    const least = turnSeconds(chain.constants.answerSeconds);
    for (let window = wanted; ; window = window < PROMISE_LIMITS.maxBatchWindow ? window + 1 : least) {
      const made = makeBatch(at, { prover, modelId, window, leafBond }, leaves);
      if (isKnown(made.id) || (await reader.batch(made.id)) === undefined) return made;
    }
  }

  #lack(missing: bigint): void {
    if (missing > 0n && this.#missing === 0n) {
      const needed = formatAmount(missing);
      this.#parts.log.error(
        { missingWei: missing },
        `no batch is posted: its slots take ${needed} more than the free stake has beside what signing asks for`,
      );
    }
    this.#missing = missing;
  }

  /** Not twice at once, nor soon after a refusal. */
  #mayBegin(key: string): boolean {
    return !this.#sending.has(key) && Date.now() >= (this.#notBefore.get(key) ?? 0);
  }

  #send(action: Action, facts: Record<string, unknown>): void {
    const { key } = action;
    if (!this.#mayBegin(key)) return;
    const sent = this.#carryOut(action, facts).finally(() => this.#sending.delete(key));
    this.#sending.set(key, sent);
  }

  async #carryOut(action: Action, facts: Record<string, unknown>): Promise<void> {
    const { sender, log, signal } = this.#parts;
    const result = await sender.send(action, signal);
    this.#notBefore.delete(action.key);
    switch (result.status) {
      case "sent":
        log.info({ ...facts, gas: result.inclusion.gasUsed, hash: result.inclusion.hash }, "moved");
        return;
      case "already-done":
        return;
      case "refused":
        this.#notBefore.set(action.key, Date.now() + REFUSED_AFTER_MS);
        log.warn({ ...facts, reason: result.revert.message }, "a move on promises is refused for now");
        return;
      case "retryable": {
        this.#notBefore.set(action.key, Date.now() + REFUSED_AFTER_MS);
        const { code, message } = chainError(result.error, "move on promises");
        log.warn({ ...facts, code }, message);
      }
    }
  }

  #apply(event: PromiseEvent): void {
    const own = this.#parts.chain.account.address;
    switch (event.name) {
      case "Posted": {
        const { prover, batchId, batch, windowEnd } = event.args;
        if (prover === own) this.#batches.set(batchId, { batch, windowEnd });
        return;
      }
      case "Released":
        // One whose leaf is still open gets another slot back.
        if (event.args.amount > 0n) this.#forgetEnded(event.args.batchId);
        return;
      case "Opened":
        if (event.args.prover === own) this.#open.add(event.args.claimId);
        return;
      case "LeafQueued":
        if (this.#batches.has(event.args.batchId)) this.#queued.add(event.args.batchId);
        return;
      case "LeafOpened":
        if (this.#batches.has(event.args.batchId)) this.#open.add(event.args.claimId);
        return;
      case "Closed":
        this.#open.delete(event.args.claimId);
        return;
      default:
    }
  }

  /** A final batch has all its slots back once it is released; one that fell may get more. */
  #forgetEnded(id: BatchId): void {
    const closed = this.#parts.promises.eventsOf(id, "Closed");
    if (closed.some(({ args }) => args.fallen)) return;
    const { windowEnd } = this.#batches.get(id) ?? {};
    if (windowEnd !== undefined) this.#ended.set(id, windowEnd);
    this.#batches.delete(id);
    this.#queued.delete(id);
  }

  #rebuild(): void {
    const { promises, chain } = this.#parts;
    const own = chain.account.address;
    this.#batches.clear();
    this.#ended.clear();
    this.#queued.clear();
    this.#open.clear();
    for (const opened of promises.ofProver(own, "Opened"))
      for (const event of promises.eventsOf(opened.args.digest)) this.#apply(event);
    for (const posted of promises.ofProver(own, "Posted"))
      for (const event of promises.eventsOf(posted.args.batchId)) this.#apply(event);
  }
}
