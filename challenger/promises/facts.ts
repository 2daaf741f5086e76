/** Reads what a decision about a wrong promise depends on, all of it at one block. */
import type { Address, Hex } from "viem";
import { demandDepth } from "../../inference/program/shape.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import { type AccountWord, PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { isFinal } from "../../protocol/rules/machine.ts";
import { bondsOf, gasPriceRange } from "../../protocol/rules/money.ts";
import type { BatchId } from "../../protocol/rules/promises/batch.ts";
import { endOf, turnSeconds } from "../../protocol/rules/promises/limits.ts";
import { depositOf, max, min } from "../../protocol/rules/promises/money.ts";
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import type { Digest, SignedClaim } from "../../protocol/rules/promises/signed-claim.ts";
import { stakeOf } from "../../protocol/rules/promises/state.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import type { CoveredModel } from "../reexecute.ts";
import type { ClaimEnd, LeafFacts, SignedFacts } from "./decide.ts";
import type { WrongLeaf, WrongSigned } from "./store.ts";

/** Facts, and what the moves on them need. Amounts in wei. */
export type Read<Facts> = Facts & {
  /** of this account or another one, for the promise now */
  readonly held: bigint;
  /** that opening it takes, with room for a base fee that rises for two blocks; what is above comes back as credit */
  readonly deposit: bigint;
};

export class PromiseFacts {
  readonly #chain: Chain;
  readonly #head: Head;
  readonly #own: Address;
  readonly #reader: PromiseStateReader;

  constructor(chain: Chain, head: Head, own: Address) {
    [this.#chain, this.#head, this.#own] = [chain, head, own];
    this.#reader = new PromiseStateReader(chain, head.hash);
  }

  async ofLeaf(
    { batchId, batch, index }: WrongLeaf,
    model: CoveredModel,
    claimId: ClaimId | undefined,
    isDoubted: boolean,
  ): Promise<Read<LeafFacts>> {
    const reader = this.#reader;
    const [leaf, word, account, baseFee, claim] = await Promise.all([
      reader.leaf(batchId, index),
      reader.batch(batchId),
      reader.account(batch.prover),
      this.#baseFee(),
      this.#claimEnd(claimId),
    ]);
    if (word === undefined)
      throw new RangeError(`there is no batch ${batchId} at block ${this.#head.number}`);
    const bond = max(this.#leastBond(depthOf(model), baseFee), word.bond);
    const dearest = max(this.#leastBond(depthOf(model), raised(baseFee)), word.bond);
    const { status, opener, deposit: held } = leaf;
    return {
      ...{
        status,
        own: this.#own,
        claim,
        now: this.#head.timestamp,
        batch: word,
        account,
        bond,
        isDoubted,
        held,
      },
      ...(opener === undefined ? {} : { opener }),
      deposit: depositOf(dearest) * BigInt(1 + Math.floor(word.open / 2)),
    };
  }

  async ofSigned(
    { digest, presented }: WrongSigned,
    model: CoveredModel,
    claimId: ClaimId | undefined,
  ): Promise<Read<SignedFacts>> {
    const { claim: signed } = presented;
    const { answerSeconds, gasPriceFloor } = this.#chain.constants;
    const reader = this.#reader;
    const [word, account, baseFee, claim] = await Promise.all([
      reader.signed(digest),
      reader.account(signed.prover),
      this.#baseFee(),
      this.#claimEnd(claimId),
    ]);
    const depth = depthOf(model);
    const bondAt = (fee: bigint) => bondOf(signed, account, this.#leastBond(depth, fee));
    const isHead = account.head === digest;
    const headBond =
      word.status === "QUEUED" && !isHead && account.head !== undefined
        ? await this.#headBond(account.head, account, baseFee)
        : undefined;
    const { status, opener, shown, deposit: held } = word;
    return {
      ...{
        status,
        own: this.#own,
        claim,
        now: this.#head.timestamp,
        issuedAt: signed.issuedAt,
        end: endOf(signed),
        shown,
        account,
        isHead,
      },
      ...{ bond: bondAt(baseFee), deposit: depositOf(bondAt(raised(baseFee))), held },
      // The floor's: 5·basefee is below it when fees are low.
      leastBond: this.#bond(depth, gasPriceFloor),
      answerSeconds,
      patience: turnSeconds(answerSeconds),
      ...(opener === undefined ? {} : { opener }),
      ...(headBond === undefined ? {} : { headBond }),
    };
  }

  /** What opened the head of a queue, as its event tells.
   *  @returns undefined where the node does not have that event */
  async presentedOf(digest: Digest): Promise<Omit<Presented, "signature"> | undefined> {
    const events = await promiseHistory(this.#chain, digest);
    const queued = events.findLast((event) => event.name === "Queued");
    if (queued === undefined) return undefined;
    const { signed: claim, input, output } = queued.args;
    return { claim, input, output };
  }

  firstQueued(batchId: BatchId): Promise<number> {
    return this.#reader.firstQueuedLeaf(batchId);
  }

  /** Of a leaf that waits, as its event tells. */
  async payloadOf(batchId: BatchId, index: number): Promise<Hex | undefined> {
    const events = await promiseHistory(this.#chain, batchId);
    const queued = events.find((event) => event.name === "LeafQueued" && Number(event.args.index) === index);
    return queued?.name === "LeafQueued" ? queued.args.payload : undefined;
  }

  /** The claim that a promise became before this challenger knew of it. */
  async claimOf(subject: Digest | WrongLeaf): Promise<{ id: ClaimId; block: bigint } | undefined> {
    const id = typeof subject === "string" ? subject : subject.batchId;
    for (const event of await promiseHistory(this.#chain, id)) {
      const isIt =
        event.name === "Opened" ||
        (event.name === "LeafOpened" &&
          typeof subject === "object" &&
          Number(event.args.index) === subject.index);
      if (isIt) return { id: event.args.claimId, block: event.block.number };
    }
    return undefined;
  }

  async #headBond(head: Digest, account: AccountWord, baseFee: bigint): Promise<bigint | undefined> {
    const presented = await this.presentedOf(head);
    if (presented === undefined) return undefined;
    const word = await new StateReader(this.#chain, this.#head.hash).model(presented.claim.modelId);
    return word && bondOf(presented.claim, account, this.#leastBond(word.depth, baseFee));
  }

  async #claimEnd(id: ClaimId | undefined): Promise<ClaimEnd> {
    if (id === undefined) return undefined;
    const word = await new StateReader(this.#chain, this.#head.hash).claimWord(id);
    if (word.state === "FALLEN") return "fallen";
    return isFinal(word, this.#chain.constants.answerSeconds, this.#head.timestamp) ? "final" : "active";
  }

  async #baseFee(): Promise<bigint> {
    const { baseFeePerGas } = await this.#chain.client.getBlock({ blockHash: this.#head.hash });
    return baseFeePerGas ?? 0n;
  }

  #leastBond(depth: number, baseFee: bigint): bigint {
    return this.#bond(depth, gasPriceRange(this.#chain.constants, baseFee).least);
  }

  #bond(depth: number, gasPrice: bigint): bigint {
    return bondsOf(this.#chain.constants, { gasPrice, depth, minBond: 0n, attempt: 0 }).bond;
  }
}

export const depthOf = ({ prepared }: CoveredModel): number => demandDepth(prepared.program);

/** b(S), see `bondOf` of the machine, whose state is not at hand. */
function bondOf({ minBond }: SignedClaim, account: AccountWord, least: bigint): bigint {
  return max(least, min(minBond, stakeOf(account)));
}

/** A base fee rises by an eighth a block at most. */
const raised = (baseFee: bigint): bigint => (baseFee * 81n) / 64n + 1n;
