/** Reads what a decision about a wrong promise depends on, all of it at one block. */
import type { Address, Hex } from "viem";
import { demandDepth } from "../../inference/program/shape.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import {
  type AccountWord,
  type BatchWord,
  type LeafWord,
  PromiseStateReader,
  type SignedWord,
} from "../../protocol/chain/promises/reads.ts";
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
import {
  asksForDoubt,
  type ClaimEnd,
  countedFor,
  depositsFor,
  type LeafFacts,
  type SignedFacts,
  stands,
} from "./decide.ts";
import type { HeldStake } from "./held-stakes.ts";
import type { WrongLeaf, WrongSigned } from "./store.ts";

/** Facts, and what the moves on them need. Amounts in wei. */
export type Read<Facts> = Facts & {
  /** of this account or another one, for the promise now */
  readonly held: bigint;
  /** that opening it takes, with room for a base fee that rises for two blocks; what is above comes back as credit */
  readonly deposit: bigint;
  /** of that, what counts as filed within an hour */
  readonly counted: bigint;
};

export class PromiseFacts {
  readonly #chain: Chain;
  readonly #head: Head;
  readonly #own: Address;
  readonly #reader: PromiseStateReader;
  /** What several promises of a step depend on is read once. */
  readonly #known = new Map<string, Promise<unknown>>();

  constructor(chain: Chain, head: Head, own: Address) {
    [this.#chain, this.#head, this.#own] = [chain, head, own];
    this.#reader = new PromiseStateReader(chain, head.hash);
  }

  /** What of a prover's stake its wrong promises take that are claims or wait to be: wei.
   *  @param wrong those that this challenger knows @param bondOfClaim wei */
  async rivalBonds(
    wrong: readonly {
      readonly promise: WrongSigned;
      readonly model: CoveredModel;
      readonly claimId: ClaimId | undefined;
    }[],
    bondOfClaim: (id: ClaimId) => Promise<bigint>,
  ): Promise<bigint> {
    const baseFee = await this.#baseFee();
    const bonds = wrong.map(async ({ promise: { digest, presented }, model, claimId }) => {
      const { status } = await this.#signed(digest);
      if (status === "OPEN") {
        const id = claimId ?? (await this.claimOf(digest))?.id;
        // What stood is right by the chain's word, and its bond is at home again.
        if (id === undefined || (await this.#claimEnd(id)) === "final") return 0n;
        // Of the stake as it was then: what came since is there for others.
        return bondOfClaim(id);
      }
      if (status !== "QUEUED") return 0n;
      const account = await this.#account(presented.claim.prover);
      const bond = bondOf(presented.claim, account, this.#leastBond(depthOf(model), baseFee));
      return min(bond, stakeOf(account));
    });
    return (await Promise.all(bonds)).reduce((sum, bond) => sum + bond, 0n);
  }

  /** Whether one of these leaves is a claim or waits to be one. */
  async anyStands(leaves: readonly WrongLeaf[]): Promise<boolean> {
    for (const leaf of leaves) if (stands(await this.#leaf(leaf))) return true;
    return false;
  }

  /** @param isDoubted asked where it is decisive */
  async ofLeaf(
    wrong: WrongLeaf,
    model: CoveredModel,
    claimId: ClaimId | undefined,
    isDoubted: () => Promise<boolean>,
  ): Promise<Read<LeafFacts>> {
    const { batchId, batch } = wrong;
    const [leaf, word, account, baseFee, claim] = await Promise.all([
      this.#leaf(wrong),
      this.#batch(batchId),
      this.#account(batch.prover),
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
        isDoubted: asksForDoubt({ status, batch: word, account, bond }) && (await isDoubted()),
        held,
      },
      ...(opener === undefined ? {} : { opener }),
      deposit: depositOf(dearest) * depositsFor(word),
      counted: depositOf(dearest) * countedFor(word),
    };
  }

  async ofSigned(
    { digest, presented }: WrongSigned,
    model: CoveredModel,
    claimId: ClaimId | undefined,
    rivalBonds: bigint,
  ): Promise<Read<SignedFacts>> {
    const { claim: signed } = presented;
    const { answerSeconds, gasPriceFloor } = this.#chain.constants;
    const [word, account, baseFee, claim] = await Promise.all([
      this.#signed(digest),
      this.#account(signed.prover),
      this.#baseFee(),
      this.#claimEnd(claimId),
    ]);
    const depth = depthOf(model);
    const bondAt = (fee: bigint) => bondOf(signed, account, this.#leastBond(depth, fee));
    const deposit = depositOf(bondAt(raised(baseFee)));
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
        rivalBonds,
      },
      ...{ bond: bondAt(baseFee), deposit, counted: deposit, held },
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

  /** Whether it holds its prover's stake although it is over. */
  async isOver(held: HeldStake): Promise<boolean> {
    if (held.kind === "claim") {
      const end = await this.#claimEnd(held.claimId);
      return end === "final" || end === "fallen";
    }
    const word = await this.#batch(held.batchId);
    if (word === undefined || word.idle === 0) return false;
    return word.fallen || (word.open === 0 && this.#head.timestamp >= word.windowEnd);
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
    const word = await this.#once(id, () => new StateReader(this.#chain, this.#head.hash).claimWord(id));
    if (word.state === "FALLEN") return "fallen";
    return isFinal(word, this.#chain.constants.answerSeconds, this.#head.timestamp) ? "final" : "active";
  }

  #signed(digest: Digest): Promise<SignedWord> {
    return this.#once(digest, () => this.#reader.signed(digest));
  }

  #leaf({ batchId, index }: WrongLeaf): Promise<LeafWord> {
    return this.#once(`${batchId} ${index}`, () => this.#reader.leaf(batchId, index));
  }

  #batch(id: BatchId): Promise<BatchWord | undefined> {
    return this.#once(id, () => this.#reader.batch(id));
  }

  #account(prover: Address): Promise<AccountWord> {
    return this.#once(prover, () => this.#reader.account(prover));
  }

  #baseFee(): Promise<bigint> {
    return this.#once("base fee", async () => {
      const { baseFeePerGas } = await this.#chain.client.getBlock({ blockHash: this.#head.hash });
      return baseFeePerGas ?? 0n;
    });
  }

  #once<T>(what: string, read: () => Promise<T>): Promise<T> {
    const known = this.#known.get(what) ?? read();
    this.#known.set(what, known);
    return known as Promise<T>;
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
