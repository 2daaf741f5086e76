/** Reads what Promises holds, all of it at one block hash if one is given. */
import type {
  Address,
  ContractFunctionArgs,
  ContractFunctionName,
  ContractFunctionReturnType,
  Hex,
} from "viem";
import { iPromiseReaderAbi, iPromisesAbi } from "../../rules/generated/abis.ts";
import type { Batch, BatchId } from "../../rules/promises/batch.ts";
import type { Presented } from "../../rules/promises/presented.ts";
import type { Digest, PromisesAddress } from "../../rules/promises/signed-claim.ts";
import type { PromiseStatus } from "../../rules/promises/state.ts";
import { type ClaimId, type ModelId, ZERO_ADDRESS, ZERO_HASH } from "../../rules/types.ts";
import type { Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import { promisesOf } from "./place.ts";

/** A prover's stake, wei; times in seconds. */
export interface AccountWord {
  readonly free: bigint;
  readonly leaving: bigint;
  readonly exitAt: number;
  readonly away: bigint;
  readonly slots: bigint;
  /** 0: the head is not known to be too dear */
  readonly hotSince: number;
  /** first and last of the queue; absent: it is empty */
  readonly head?: Digest;
  readonly tail?: Digest;
}

/** What the chain knows of a signed claim. */
export interface SignedWord {
  readonly status: PromiseStatus;
  /** it was opened in time once */
  readonly shown: boolean;
  /** second in which it joined the queue */
  readonly queuedAt: number;
  /** absent: nobody opened it */
  readonly opener?: Address;
  readonly deposit: bigint;
}

/** What the chain knows of a leaf. */
export interface LeafWord {
  readonly status: PromiseStatus;
  /** absent: nobody opened it */
  readonly opener?: Address;
  /** wei, 0 once it was paid out */
  readonly deposit: bigint;
}

export interface BatchWord {
  readonly windowEnd: number;
  /** leaves that are opened or queued */
  readonly open: number;
  readonly idle: number;
  readonly fallen: boolean;
  /** B, wei */
  readonly bond: bigint;
  /** leaves that wait */
  readonly queued: number;
}

/** What a claim in Assay was filed for. */
export interface FilingWord {
  readonly prover: Address;
  readonly origin: Digest | BatchId;
  /** absent: a signed claim's */
  readonly leaf?: number;
}

/** What `open` finds of a signed claim. */
export interface Found {
  readonly digest: Digest;
  /** last second in which it can be shown */
  readonly end: number;
  /** of its claim now, wei */
  readonly bond: bigint;
  /** least value to send, wei */
  readonly deposit: bigint;
}

/** What `requireFinalLeaf` asks for. */
export interface LeafPolicy {
  readonly modelId: ModelId;
  readonly inputHash: Hex;
  /** bits */
  readonly lanes: number;
  /** wei a leaf */
  readonly minBond: bigint;
  /** seconds */
  readonly minWindow: number;
}

const STATUSES: readonly PromiseStatus[] = ["NONE", "QUEUED", "OPEN", "CLOSED"];

/** All methods throw BaseError: RPC_UNREACHABLE and RPC_FAULT (retryable; also when the block is gone), CALL_REVERTED. */
export class PromiseStateReader {
  readonly #chain: Pick<Chain, "client">;
  readonly #promises: { readonly address: Address; readonly abi: typeof iPromisesAbi };
  readonly #reader: { readonly address: Address; readonly abi: typeof iPromiseReaderAbi };
  readonly #at: { blockHash: Hex } | Record<never, never>;
  readonly at: PromisesAddress;

  /** @param blockHash absent: the newest block at each call
   *  @throws BaseError PROMISES_MISSING */
  constructor(chain: Pick<Chain, "client" | "deployment">, blockHash?: Hex) {
    this.at = promisesOf(chain.deployment);
    this.#chain = chain;
    this.#promises = { address: this.at.promises, abi: iPromisesAbi };
    const { promiseReader } = chain.deployment.contracts;
    this.#reader = { address: promiseReader as Address, abi: iPromiseReaderAbi };
    this.#at = blockHash === undefined ? {} : { blockHash };
  }

  async account(prover: Address): Promise<AccountWord> {
    const { head, tail, ...word } = await this.#ask(`the stake of ${prover}`, "accountOf", [prover]);
    if (head === ZERO_HASH) return word;
    return { ...word, head: head as Digest, tail: tail as Digest };
  }

  /** Last second in which what the key signs binds the prover, 0 if it never did. */
  boundUntil(prover: Address, key: Address): Promise<number> {
    return this.#ask(`until when the key ${key} is bound`, "boundUntil", [prover, key]);
  }

  async signed(digest: Digest): Promise<SignedWord> {
    const word = await this.#ask(`signed claim ${digest}`, "signedState", [digest]);
    const { shown, queuedAt, opener, deposit } = word;
    const status = STATUSES[word.status] as PromiseStatus;
    return { status, shown, queuedAt, deposit, ...(opener === ZERO_ADDRESS ? {} : { opener }) };
  }

  /** @returns undefined if no such batch was posted */
  async batch(id: BatchId): Promise<BatchWord | undefined> {
    const word = await this.#ask(`batch ${id}`, "batchState", [id]);
    const { windowEnd, open, idle, fallen, bond, queueHead, queueTail } = word;
    return windowEnd === 0
      ? undefined
      : { windowEnd, open, idle, fallen, bond, queued: queueTail - queueHead };
  }

  async leaf(id: BatchId, index: number): Promise<LeafWord> {
    const args = [id, BigInt(index)] as const;
    const { opener, deposit, hash } = await this.#ask(`leaf ${index} of batch ${id}`, "leafState", args);
    if (opener === ZERO_ADDRESS) return { status: "NONE", deposit };
    if (hash !== ZERO_HASH) return { status: "QUEUED", opener, deposit };
    return { status: deposit === 0n ? "CLOSED" : "OPEN", opener, deposit };
  }

  isFinal(id: BatchId): Promise<boolean> {
    return withContext(`read whether batch ${id} is final`, () =>
      this.#chain.client.readContract({
        ...{ ...this.#reader, ...this.#at, functionName: "isBatchFinal", args: [id] },
      }),
    );
  }

  /** The gate that contracts use. @param path bottom up @returns the output
   *  @throws BaseError CALL_REVERTED with the reason where the leaf is not final under the policy */
  requireFinalLeaf(
    batch: Batch,
    index: number,
    payload: Hex,
    path: readonly Hex[],
    policy: LeafPolicy,
  ): Promise<Hex> {
    return withContext(`read leaf ${index} as a final one`, () =>
      this.#chain.client.readContract({
        ...{ ...this.#reader, ...this.#at, functionName: "requireFinalLeaf" },
        args: [batch, BigInt(index), payload, path, policy],
      }),
    );
  }

  /** @returns undefined if it was not filed by a promise, or is closed */
  async filing(claimId: ClaimId): Promise<FilingWord | undefined> {
    const word = await this.#ask(`what claim ${claimId} was filed for`, "filingOf", [claimId]);
    if (word.prover === ZERO_ADDRESS) return undefined;
    const origin = word.origin as Digest | BatchId;
    return { prover: word.prover, origin, ...(word.isLeaf ? { leaf: word.leaf } : {}) };
  }

  /** wei that the account can withdraw */
  credit(account: Address): Promise<bigint> {
    return this.#ask(`the credit of ${account} in Promises`, "credits", [account]);
  }

  burned(): Promise<bigint> {
    return this.#ask("what Promises will burn", "burned", []);
  }

  /** @returns index of the leaf that waits first
   *  @throws BaseError CALL_REVERTED NoLeafQueued */
  async firstQueuedLeaf(id: BatchId): Promise<number> {
    return Number(await this.#ask(`the queue of batch ${id}`, "firstQueuedLeaf", [id]));
  }

  /** What opening a leaf would cost now, wei. */
  async leafBonds(batch: Batch): Promise<{ readonly bond: bigint; readonly deposit: bigint }> {
    const [bond, deposit] = await this.#ask("the bonds of a leaf", "leafBonds", [batch]);
    return { bond, deposit };
  }

  /** @throws BaseError CALL_REVERTED with the reason where `open` would revert */
  async check({ claim, signature, input, output }: Presented): Promise<Found> {
    const [digest, end, bond, deposit] = await this.#ask("what opening a signed claim would take", "check", [
      ...([claim, signature, input, output] as const),
    ]);
    return { digest: digest as Digest, end: Number(end), bond, deposit };
  }

  #ask<Name extends ReadName>(what: string, functionName: Name, args: ReadArgs<Name>): Promise<Answer<Name>> {
    const call = { ...this.#promises, ...this.#at, functionName, args } as never;
    return withContext(`read ${what}`, () => this.#chain.client.readContract(call) as Promise<Answer<Name>>);
  }
}

type ReadName = ContractFunctionName<typeof iPromisesAbi, "view">;
type ReadArgs<Name extends ReadName> = ContractFunctionArgs<typeof iPromisesAbi, "view", Name>;
type Answer<Name extends ReadName> = ContractFunctionReturnType<
  typeof iPromisesAbi,
  "view",
  Name,
  ReadArgs<Name>
>;
