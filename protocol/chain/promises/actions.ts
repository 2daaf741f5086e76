/** Moves on promises as transactions, each under the key by which the journal knows it (see ../actions.ts). */
import {
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  type Hex,
} from "viem";
import { iPromisesAbi } from "../../rules/generated/abis.ts";
import { claimIdOf, type GameAddress } from "../../rules/ids.ts";
import { type Batch, type BatchId, batchIdOf } from "../../rules/promises/batch.ts";
import type { Presented } from "../../rules/promises/presented.ts";
import { type Digest, digestOf, type PromisesAddress } from "../../rules/promises/signed-claim.ts";
import type { Claim, ModelId, Request } from "../../rules/types.ts";
import type { Action } from "../actions.ts";

/** What a batch is posted with. */
export interface Posting {
  readonly prover: Address;
  readonly modelId: ModelId;
  /** seconds */
  readonly window: number;
  /** wei a leaf */
  readonly leafBond: bigint;
  /** compact leaves, joined */
  readonly data: Hex;
}

/** The key of the action that posts a batch. */
export const postingKey = (id: BatchId): string => `post:${id}`;

/** Builders of the actions on the promises of one deployment. An `occasion` names what may be done again: the same
 *  occasion does it once. */
export class PromiseActions {
  readonly #at: PromisesAddress;
  readonly #game: GameAddress;

  constructor(at: PromisesAddress, game: GameAddress) {
    this.#at = at;
    this.#game = game;
  }

  /** @param amount wei */
  deposit(prover: Address, amount: bigint, occasion: string): Action {
    return this.#action(`stake:${prover}:${occasion}`, "deposit", [prover], [], amount);
  }

  /** @param amount wei */
  announceExit(amount: bigint, occasion: string): Action {
    return this.#action(`announceExit:${occasion}`, "announceExit", [amount]);
  }

  exit(to: Address, occasion: string): Action {
    return { ...this.#action(`exit:${to}:${occasion}`, "exit", [to]), tooEarly: "ExitTooEarly" };
  }

  /** @param until last second in which what the key signs binds the sender */
  setSigner(key: Address, until: number): Action {
    return this.#action(`setSigner:${key}:${until}`, "setSigner", [key, until]);
  }

  /** @param deposit wei, at least `check`'s @param occasion absent: it was never taken back */
  open({ claim, signature, input, output }: Presented, deposit: bigint, occasion?: string): Action {
    const key = keyOf("open", digestOf(this.#at, claim), occasion);
    return this.#action(key, "open", [claim, signature, input, output], ["AlreadyOpened"], deposit);
  }

  openNext({ claim, input, output }: Omit<Presented, "signature">, occasion?: string): Action {
    const key = keyOf("openNext", digestOf(this.#at, claim), occasion);
    return this.#action(key, "openNext", [claim, input, output]);
  }

  passNext(prover: Address, behind: Digest, occasion: string): Action {
    const action = this.#action(`passNext:${prover}:${occasion}`, "passNext", [prover, behind]);
    return { ...action, tooEarly: "TooSoon" };
  }

  takeBack(digest: Digest, occasion?: string): Action {
    return this.#action(keyOf("takeBack", digest, occasion), "takeBack", [digest]);
  }

  /** By the prover, or a key that is bound now; the claim itself is Assay's. */
  commitTrace(claim: Claim, tops: readonly Hex[]): Action {
    const id = claimIdOf(this.#game, claim);
    return this.#action(`promiseTrace:${id}`, "commitTrace", [claim, tops], ["TraceAlreadyCommitted"]);
  }

  /** Books the end of a claim; finalizes it if need be. */
  close(request: Request, claim: Claim): Action {
    const id = claimIdOf(this.#game, claim);
    return {
      ...this.#action(`close:${id}`, "close", [request, claim], ["NotOpen"]),
      tooEarly: "ClaimNotFinal",
    };
  }

  /** @param batch what is posted: its id names the transaction */
  post(batch: Batch, { prover, modelId, window, leafBond, data }: Posting): Action {
    const args = [prover, modelId, window, leafBond, data] as const;
    return this.#action(postingKey(batchIdOf(this.#at, batch)), "post", args, ["AlreadyPosted"]);
  }

  /** @param path bottom up @param deposit wei, at least that of `leafBonds` */
  openLeaf(batch: Batch, index: number, payload: Hex, path: readonly Hex[], deposit: bigint): Action {
    const args = [batch, BigInt(index), payload, path] as const;
    const key = `openLeaf:${batchIdOf(this.#at, batch)}:${index}`;
    return this.#action(key, "openLeaf", args, ["LeafAlreadyOpened"], deposit);
  }

  /** @param index of the first queued leaf */
  nextLeaf(batch: Batch, index: number, payload: Hex): Action {
    const key = `nextLeaf:${batchIdOf(this.#at, batch)}:${index}`;
    return this.#action(key, "nextLeaf", [batch, payload], ["NoLeafQueued", "LeafNotFirst"]);
  }

  /** @param index of the first queued leaf */
  dropLeaf(batch: Batch, index: number): Action {
    const key = `dropLeaf:${batchIdOf(this.#at, batch)}:${index}`;
    return this.#action(key, "dropLeaf", [batch], ["NoLeafQueued"]);
  }

  release(batch: Batch): Action {
    const action = this.#action(`release:${batchIdOf(this.#at, batch)}`, "release", [batch]);
    return { ...action, tooEarly: "BatchNotEnded" };
  }

  withdraw(to: Address, occasion: string): Action {
    return this.#action(`promiseWithdraw:${to}:${occasion}`, "withdraw", [to], ["NoCredit"]);
  }

  pullBurn(occasion: string): Action {
    return this.#action(`pullBurn:${occasion}`, "pullBurn", [], ["NoCredit"]);
  }

  #action<Name extends WriteName>(
    key: string,
    functionName: Name,
    args: ContractFunctionArgs<typeof iPromisesAbi, Mutability, Name>,
    doneBy: readonly string[] = [],
    value = 0n,
  ): Action {
    const data = encodeFunctionData({ abi: iPromisesAbi, functionName, args } as never);
    return { key, to: this.#at.promises, data, value, doneBy };
  }
}

/** @param key of an action
 *  @returns the digest of the signed claim, or batch and index of the leaf, that it opens; undefined: it opens none */
export const openingOf = (key: string): string | undefined =>
  /^open:(0x[0-9a-f]+)(?::|$)/.exec(key)?.[1] ?? /^openLeaf:(0x[0-9a-f]+:\d+)$/.exec(key)?.[1];

type Mutability = "nonpayable" | "payable";
type WriteName = ContractFunctionName<typeof iPromisesAbi, Mutability>;

const keyOf = (move: string, digest: Digest, occasion?: string): string =>
  occasion === undefined ? `${move}:${digest}` : `${move}:${digest}:${occasion}`;
