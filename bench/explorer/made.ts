/** A long history without its chain: requests, claims, disputes and endings, as the contract's events tell of them. */
import { type Address, getAddress, type Hex, keccak256, numberToHex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { createRng, type Rng } from "../../conformance/generate/rng.ts";
import type { Facts, TransactionFacts } from "../../explorer/index/facts.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import type { Batch, Cursor } from "../../protocol/chain/follower.ts";
import { fallPayout, finalPayout } from "../../protocol/rules/money.ts";
import {
  type Claim,
  type ClaimId,
  FALL_REASONS,
  LANE,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";

export interface MadeModel {
  readonly modelId: ModelId;
  readonly word: bigint;
  readonly input: Hex;
  readonly output: Hex;
}

export interface MadeBatch {
  readonly batch: Extract<Batch, { kind: "blocks" }>;
  readonly facts: Facts;
  readonly claims: readonly ClaimId[];
}

const PROVERS = 50;
const CHALLENGERS = 10;
const REQUESTERS = 500;
const CLAIMS_PER_BLOCK = 25;
const BLOCKS_PER_BATCH = 40;
const BLOCK_SECONDS = 12;
const WINDOW = 3_600;
const GAS = 120_000;
const PRICE = 10n ** 9n;
/** Of a hundred claims, how many fall after a dispute, and how many are not over. */
const [FALLEN, ACTIVE] = [2, 10];

/** @param count claims @param from second of the first block */
export function* madeHistory(
  models: readonly MadeModel[],
  count: number,
  from: number,
): Generator<MadeBatch> {
  const rng = createRng(100_000);
  const maker = new Maker(rng, models, from);
  let cursor: Cursor = [];
  maker.register();
  for (let made = 0; made < count; ) {
    const claims: ClaimId[] = [];
    for (let block = 0; block < BLOCKS_PER_BATCH && made < count; block++) {
      for (let i = 0; i < CLAIMS_PER_BLOCK && made < count; i++, made++) claims.push(maker.life());
      maker.mine();
    }
    const taken = maker.take(cursor);
    ({ cursor } = taken.batch);
    yield { ...taken, claims };
  }
}

class Maker {
  readonly #rng: Rng;
  readonly #models: readonly MadeModel[];
  readonly #from: number;
  #number = 1n;
  #first = 1n;
  #logIndex = 0;
  #transaction: Hex = "0x";
  #events: ChainEvent[] = [];
  #blocks = new Map<bigint, { number: bigint; hash: Hex; time: number }>();
  #transactions = new Map<Hex, TransactionFacts>();

  constructor(rng: Rng, models: readonly MadeModel[], from: number) {
    this.#rng = rng;
    this.#models = models;
    this.#from = from;
  }

  register(): void {
    for (const { modelId, word } of this.#models) {
      this.#send(accountOf(0));
      this.#emit("ModelRegistered", {
        modelId,
        word,
        programHash: modelId,
        weightsRoot: modelId,
        vkHash: modelId,
      });
    }
  }

  /** A request, its claim, and in most cases how it ended. */
  life(): ClaimId {
    const rng = this.#rng;
    const model = rng.pick(this.#models);
    const request = this.#requested(model);
    const [requestId, claimId] = [this.#id() as RequestId, this.#id() as ClaimId];
    this.#send(request.requester);
    this.#emit("Requested", { requestId, modelId: model.modelId, request, input: model.input });
    const claim: Claim = {
      requestId,
      modelId: model.modelId,
      attempt: 0,
      prover: accountOf(1_000 + rng.int(0, PROVERS - 1)),
      operator: ZERO_ADDRESS,
      outputHash: keccak256(model.output),
      bond: 10n ** 16n,
      ticketBond: 10n ** 15n,
      gasPrice: PRICE,
    };
    this.#send(claim.prover);
    const windowEnd = this.#time + WINDOW;
    this.#emit("Claimed", { claimId, requestId, claim, windowEnd, output: model.output });
    const fate = rng.int(0, 99);
    if (fate < FALLEN) this.#fall(claimId, claim);
    else if (fate >= FALLEN + ACTIVE) this.#finalize(claimId, claim, request);
    return claimId;
  }

  mine(): void {
    this.#number += 1n;
    this.#logIndex = 0;
  }

  take(cursor: Cursor): Omit<MadeBatch, "claims"> {
    const number = this.#number - 1n;
    const to = { number, hash: this.#hash(number), timestamp: this.#timeAt(number) };
    const from = this.#first;
    this.#first = this.#number;
    const taken = {
      batch: {
        kind: "blocks",
        from,
        to,
        head: to,
        events: this.#events,
        cursor: [...cursor, to].slice(-512),
      },
      facts: { blocks: this.#blocks, transactions: this.#transactions },
    } as const;
    [this.#events, this.#blocks, this.#transactions] = [[], new Map(), new Map()];
    return taken;
  }

  #requested({ modelId, input }: MadeModel): Request {
    return {
      requester: accountOf(2_000 + this.#rng.int(0, REQUESTERS - 1)),
      modelId,
      inputHash: keccak256(input),
      lanes: LANE.BOND,
      fee: 10n ** 15n,
      deliveryFee: 0n,
      minBond: 0n,
      window: WINDOW,
      expiry: this.#time + 86_400,
      exclusiveProver: ZERO_ADDRESS,
      exclusiveUntil: 0,
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt: BigInt(this.#rng.u32()),
    };
  }

  #fall(claimId: ClaimId, claim: Claim): void {
    const challenger = accountOf(3_000 + this.#rng.int(0, CHALLENGERS - 1));
    const hardEnd = this.#time + WINDOW;
    this.#send(challenger);
    this.#emit("Challenged", { claimId, challenger, traceDeadline: this.#time + 60, hardEnd });
    this.#send(claim.prover);
    const tops = Array.from({ length: 16 }, () => this.#id());
    this.#emit("TraceCommitted", { claimId, traceRoot: this.#id(), tops });
    this.#send(challenger);
    const reason = FALL_REASONS.indexOf("ELEMENT");
    const [step, element, expected, claimed] = [12n, 0n, 1n, 2n];
    this.#emit("Fell", { claimId, requestId: claim.requestId, reason, step, element, expected, claimed });
    const { ticket: amount } = fallPayout(claim, 1, false);
    this.#emit("Collected", { claimId, owner: challenger, amount });
    this.#emit("Credited", { account: challenger, amount });
  }

  #finalize(claimId: ClaimId, claim: Claim, { fee }: Request): void {
    this.#send(claim.prover);
    const { requestId, outputHash } = claim;
    this.#emit("Finalized", { requestId, claimId, lane: LANE.BOND, outputHash });
    this.#emit("Credited", { account: claim.prover, amount: finalPayout(claim, 0, fee).prover });
  }

  get #time(): number {
    return this.#timeAt(this.#number);
  }

  #timeAt(number: bigint): number {
    return this.#from + BLOCK_SECONDS * Number(number);
  }

  #hash(number: bigint): Hex {
    return numberToHex(number, { size: 32 });
  }

  #id(): Hex {
    return toHex(this.#rng.bytes(32));
  }

  #send(sender: Address): void {
    this.#transaction = this.#id();
    const facts = {
      hash: this.#transaction,
      block: this.#number,
      sender,
      gasUsed: GAS,
      fee: BigInt(GAS) * PRICE,
    };
    this.#transactions.set(this.#transaction, facts);
  }

  #emit(name: ChainEvent["name"], args: object): void {
    const block = { number: this.#number, hash: this.#hash(this.#number) };
    this.#blocks.set(this.#number, { ...block, time: this.#time });
    const place = {
      block,
      logIndex: this.#logIndex++,
      transactionHash: this.#transaction,
      contract: ZERO_ADDRESS,
    };
    this.#events.push({ name, args, ...place } as unknown as ChainEvent);
  }
}

const accounts = new Map<number, Address>();
function accountOf(index: number): Address {
  const known = accounts.get(index) ?? getAddress(numberToHex(BigInt(index) << 96n, { size: 20 }));
  accounts.set(index, known);
  return known;
}
