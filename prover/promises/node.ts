/** A prover's promises: what it signs, the batches that it posts, and what its stake needs on the chain. Whatever is
 *  opened is defended like any claim (../defend.ts): of its claim in Assay the prover is the operator. */
import type { Address, Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { keccak256 } from "../../inference/commit/keccak.ts";
import type { Batch as FollowedBatch, Head } from "../../protocol/chain/follower.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { type BatchId, batchTree } from "../../protocol/rules/promises/batch.ts";
import { compactLeaf, splitBatch } from "../../protocol/rules/promises/leaf.ts";
import { PROMISE_LIMITS, turnSeconds } from "../../protocol/rules/promises/limits.ts";
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import type { Digest, PromisesAddress } from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import type { ModelWord } from "../../protocol/rules/words.ts";
import type { SigningSource } from "../metrics.ts";
import { Keeper } from "./keeper.ts";
import type { PromiseParts } from "./parts.ts";
import type { Signature } from "./signing/messages.ts";
import { type SignedStatus, statusOf } from "./status.ts";
import { requireOpenable, type StakeState, signingRefusal } from "./terms.ts";

/** What was signed, and by what it is known. */
export interface SignedAnswer extends Presented {
  readonly digest: Digest;
}

/** A leaf as a contract asks for it. */
export interface LeafPlace {
  readonly batchId: BatchId;
  readonly batch: {
    readonly prover: Address;
    readonly modelId: ModelId;
    readonly window: number;
    readonly count: number;
    readonly root: Hex;
  };
  readonly index: number;
  readonly payload: Hex;
  /** bottom up */
  readonly path: readonly Hex[];
  /** seconds; absent: it is not posted */
  readonly windowEnd?: number;
}

/** What a model made of an input. */
export interface Run {
  /** calldata */
  readonly input: Uint8Array;
  /** return data */
  readonly output: Uint8Array;
}

export interface SignOptions {
  /** who asked */
  readonly requester: Address;
  /** true: it is to be in a batch */
  readonly isBatched: boolean;
  /** true: it waits for one only once `awaitBatch` is called; default: false */
  readonly isHeld?: boolean;
}

export interface SignedView extends Pick<Presented, "claim" | "signature"> {
  readonly digest: Digest;
  readonly status: SignedStatus;
  readonly claimId?: Hex;
  readonly leaf?: LeafPlace;
}

export class PromiseNode implements SigningSource {
  readonly #parts: PromiseParts;
  readonly #keeper: Keeper;
  readonly #words = new Map<ModelId, ModelWord>();
  readonly at: PromisesAddress;
  /** told of each signed answer, and how long that took */
  onSigned: ((finality: "signed" | "batched", ms: number) => void) | undefined;
  #state: StakeState | undefined;

  constructor(parts: PromiseParts) {
    this.#parts = parts;
    this.at = new PromiseStateReader(parts.chain).at;
    const actions = new PromiseActions(this.at, parts.chain.game);
    this.#keeper = new Keeper({ ...parts, actions, at: this.at, words: this.#words });
  }

  /** The stake and what else signing depends on, at the newest block; undefined before chain and journal are compared. */
  get state(): StakeState | undefined {
    return this.#state;
  }

  get stake(): StakeState["account"] | undefined {
    return this.#state?.account;
  }

  get readyModels(): number {
    const { chain, terms } = this.#parts;
    const words = [...this.#words.values()];
    return words.filter((word) => signingRefusal(this.#state, word, chain.constants, terms) === undefined)
      .length;
  }

  get waitingLeaves(): number {
    return this.#parts.journal.countWaiting();
  }

  get runningBatches(): number {
    return this.#keeper.counts.batches;
  }

  get missingStake(): bigint {
    return this.#keeper.missingStake;
  }

  get openPromises(): number {
    return this.#keeper.counts.open;
  }

  /** Consumer of a follower of Promises. */
  async take(batch: FollowedBatch<PromiseEvent>): Promise<void> {
    const { promises } = this.#parts;
    const taken = promises.cursor()?.at(-1)?.number ?? -1n;
    promises.take(batch);
    // What was taken before something failed comes again, or a re-org brings other blocks in its place.
    if (batch.kind === "rollback" || taken >= batch.from) await this.#keeper.takeAgain();
    else await this.#keeper.take(batch.events);
    if (batch.kind === "rollback" || batch.to.number !== batch.head.number) return;
    await this.#observe(batch.head);
  }

  /** No block came, but the next one will have this time. */
  async onTime(now: number): Promise<void> {
    if (this.#state !== undefined) return this.#keeper.keep(this.#state, now);
    // All blocks were followed before this process started, and a chain may make no further one by itself.
    const { number, hash, timestamp } = await this.#parts.chain.client.getBlock();
    if (hash === this.#parts.promises.cursor()?.at(-1)?.hash)
      await this.#observe({ number, hash, timestamp: Number(timestamp) });
  }

  /** Waits for what is on its way. */
  async stop(): Promise<void> {
    await this.#keeper.stop();
  }

  /** Whether answers go into batches here. */
  get posts(): boolean {
    return this.#parts.terms.batchSeconds !== undefined;
  }

  /** @throws BaseError SIGNING_PAUSED (retryable) */
  requireReady(modelId: ModelId): void {
    const { chain, terms } = this.#parts;
    const refusal = signingRefusal(this.#state, this.#words.get(modelId), chain.constants, terms);
    if (refusal !== undefined) throw refusal;
  }

  /** Signs outputs that the canonical executor agreed to, once they are on the disk. It gives all of them or none: where the
   *  journal fails in the middle some may be in it, which nobody is given.
   *  @throws BaseError as requireReady and Signer.sign; SIGNED_CLAIM_TOO_LARGE; as compactLeaf */
  async sign(
    modelId: ModelId,
    runs: readonly Run[],
    { requester, isBatched, isHeld = false }: SignOptions,
  ): Promise<readonly SignedAnswer[]> {
    this.requireReady(modelId);
    const { chain, signer, terms } = this.#parts;
    const word = this.#words.get(modelId) as ModelWord;
    const { timestamp: issuedAt } = (this.#state as StakeState).head;
    const drafts = runs.map(({ input, output }) => {
      requireOpenable(input.length + output.length);
      const payload = isBatched ? compactLeaf(word, { input, output }) : undefined;
      const claim = {
        ...{ prover: chain.account.address, modelId, requester, issuedAt },
        ...{ inputHash: toHex(keccak256(input)), outputHash: toHex(keccak256(output)) },
        ...{ expiry: issuedAt + PROMISE_LIMITS.maxLife, minBond: terms.signBond },
      };
      return { claim, input, output, payload: isHeld ? undefined : payload };
    });
    const since = performance.now();
    const signatures = await Promise.all(drafts.map((draft) => signer.sign(draft)));
    const ms = performance.now() - since;
    return drafts.map(({ claim, input, output }, index) => {
      const { salt, digest, signature } = signatures[index] as Signature;
      this.onSigned?.(isBatched ? "batched" : "signed", ms);
      return {
        ...{ claim: { ...claim, salt }, signature: toHex(signature), digest: toHex(digest) as Digest },
        ...{ input: toHex(input), output: toHex(output) },
      };
    });
  }

  /** Has a signed answer go into a batch, if it does not already.
   *  @throws BaseError as Signer.sign; as compactLeaf; SIGNING_PAUSED (retryable) before the chain was read */
  async awaitBatch({ claim, digest, input, output }: SignedAnswer): Promise<void> {
    if (!this.#words.has(claim.modelId)) this.requireReady(claim.modelId);
    const word = this.#words.get(claim.modelId) as ModelWord;
    const payload = compactLeaf(word, { input: fromHex(input), output: fromHex(output) });
    await this.#parts.signer.awaitBatch(fromHex(digest), payload);
  }

  /** What was signed under a digest; undefined for what this node did not sign, or has forgotten. */
  again(digest: Digest): SignedAnswer | undefined {
    const presented = this.#parts.journal.presented(digest);
    return presented && { digest, ...presented };
  }

  /** Its place in a batch; undefined as long as the chain has none with it. While that is so it costs one look: many
   *  callers wait. */
  postedLeaf(digest: Digest): LeafPlace | undefined {
    if (!this.#parts.journal.isPosted(digest)) return undefined;
    const leaf = this.find(digest)?.leaf;
    return leaf?.windowEnd === undefined ? undefined : leaf;
  }

  /** @returns undefined for what this node did not sign, or has forgotten */
  find(digest: Digest): SignedView | undefined {
    const { journal, promises } = this.#parts;
    const found = journal.find(digest);
    if (found === undefined) return undefined;
    const { claim, signature, leaf } = found;
    const now = this.#state?.head.timestamp ?? 0;
    const events = leaf && promises.eventsOf(leaf.batch);
    const status = statusOf(promises.eventsOf(digest), leaf && { ...leaf, events: events ?? [] }, now);
    const place = leaf && this.#placeOf(leaf.batch, leaf.index, events ?? []);
    return { digest, claim, signature, ...status, ...(place === undefined ? {} : { leaf: place }) };
  }

  #placeOf(id: BatchId, index: number, events: readonly PromiseEvent[]): LeafPlace | undefined {
    const made = this.#parts.journal.batch(id);
    const word = made && this.#words.get(made.batch.modelId);
    if (made === undefined || word === undefined) return undefined;
    const payloads = splitBatch(word, made.data);
    const posted = events.find((event) => event.name === "Posted");
    return {
      ...{ batchId: id, batch: made.batch, index, payload: toHex(payloads[index] as Uint8Array) },
      path: batchTree(payloads).pathOf(index).map(toHex),
      ...(posted?.name === "Posted" ? { windowEnd: posted.args.windowEnd } : {}),
    };
  }

  async #observe(head: Head): Promise<void> {
    const { chain, models, key } = this.#parts;
    const reader = new PromiseStateReader(chain, head.hash);
    const prover = chain.account.address;
    const missing = [...models.keys()].filter((id) => !this.#words.has(id));
    const [account, boundUntil, block, ...words] = await Promise.all([
      reader.account(prover),
      reader.boundUntil(prover, key),
      chain.client.getBlock({ blockHash: head.hash }),
      ...missing.map((id) => new StateReader(chain, head.hash).model(id)),
    ]);
    for (const [index, id] of missing.entries()) {
      const word = words[index];
      if (word !== undefined) this.#words.set(id, word);
    }
    if (this.#state === undefined) await this.#keeper.compare();
    const state = { head, prover, account, boundUntil, baseFee: block.baseFeePerGas ?? 0n };
    this.#state = state;
    await this.#keeper.keep(state, head.timestamp);
  }
}

/** @throws BaseError BATCH_WINDOW_INVALID */
export function requireBatchWindow(window: number | undefined, answerSeconds: number): number {
  const least = turnSeconds(answerSeconds);
  const chosen = window ?? least;
  if (chosen >= least && chosen <= PROMISE_LIMITS.maxBatchWindow) return chosen;
  throw new BaseError({
    code: "BATCH_WINDOW_INVALID",
    shortMessage: `A batch's window is ${chosen} s, must be ${least} to ${PROMISE_LIMITS.maxBatchWindow} s here.`,
    nextStep: "Change --batch-window (ASSAY_PROVER_BATCH_WINDOW).",
    details: { window: chosen, least, most: PROMISE_LIMITS.maxBatchWindow },
  });
}
