/** Reads Assay's and the registry's state, all of it at one block hash if one is given. */
import type { Address, Hex } from "viem";
import { concatBytes, fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { iAssayAbi, iModelRegistryAbi } from "../rules/generated/abis.ts";
import type { ClaimState, Demand, Ticket } from "../rules/machine.ts";
import type { Bonds } from "../rules/money.ts";
import {
  type Claim,
  type ClaimId,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_HASH,
} from "../rules/types.ts";
import {
  type ClaimWord,
  decodeClaimWord,
  decodeModelWord,
  decodeRequestWord,
  type ModelWord,
  type RequestWord,
} from "../rules/words.ts";
import type { Chain } from "./connect.ts";
import { withContext } from "./errors.ts";

/** All methods throw BaseError: RPC_UNREACHABLE and RPC_FAULT (retryable; also when the block is gone). */
export class StateReader {
  readonly #chain: Chain;
  readonly #at: { blockHash: Hex } | Record<never, never>;

  /** @param blockHash absent: the newest block at each call */
  constructor(chain: Chain, blockHash?: Hex) {
    this.#chain = chain;
    this.#at = blockHash === undefined ? {} : { blockHash };
  }

  get #assay() {
    return { address: this.#chain.game.assay, abi: iAssayAbi, ...this.#at } as const;
  }

  get #registry() {
    const address = this.#chain.deployment.contracts.registry;
    return { address, abi: iModelRegistryAbi, ...this.#at } as const;
  }

  async requestWord(id: RequestId): Promise<RequestWord> {
    return decodeRequestWord(
      await withContext(`read request ${id}`, () =>
        this.#chain.client.readContract({ ...this.#assay, functionName: "requestWord", args: [id] }),
      ),
    );
  }

  async claimWord(id: ClaimId): Promise<ClaimWord> {
    return decodeClaimWord(
      await withContext(`read claim ${id}`, () =>
        this.#chain.client.readContract({ ...this.#assay, functionName: "claimWord", args: [id] }),
      ),
    );
  }

  /** @returns undefined before commitTrace */
  async traceRoot(id: ClaimId): Promise<Hex | undefined> {
    const root = await withContext(`read the trace root of claim ${id}`, () =>
      this.#chain.client.readContract({ ...this.#assay, functionName: "traceRootOf", args: [id] }),
    );
    return root === ZERO_HASH ? undefined : root;
  }

  /** @returns undefined if the owner has none */
  async ticket(id: ClaimId, owner: Address): Promise<Ticket | undefined> {
    const [held, demands, collected] = await withContext(`read a ticket of claim ${id}`, () =>
      this.#chain.client.readContract({ ...this.#assay, functionName: "ticketOf", args: [id, owner] }),
    );
    return held ? { demands, collected } : undefined;
  }

  /** @param position encoded @returns undefined if it was never demanded */
  async demand(id: ClaimId, position: bigint): Promise<Demand | undefined> {
    const [deadline, answered] = await withContext(`read a demand on claim ${id}`, () =>
      this.#chain.client.readContract({ ...this.#assay, functionName: "demandOf", args: [id, position] }),
    );
    return deadline === 0 ? undefined : { deadline, answered };
  }

  /** A claim as the machine sees it.
   *  @param owners whose tickets to read @param positions which demands to read, encoded
   *  @returns undefined if the chain has no such claim */
  async claim(
    id: ClaimId,
    claim: Claim,
    owners: readonly Address[] = [],
    positions: readonly bigint[] = [],
  ): Promise<ClaimState | undefined> {
    const [word, traceRoot, tickets, demands] = await Promise.all([
      this.claimWord(id),
      this.traceRoot(id),
      Promise.all(owners.map((owner) => this.ticket(id, owner))),
      Promise.all(positions.map((position) => this.demand(id, position))),
    ]);
    if (word.state === "NONE") return undefined;
    return {
      claim,
      word,
      ...(traceRoot === undefined ? {} : { traceRoot }),
      tickets: zip(owners, tickets),
      demands: zip(positions, demands),
    };
  }

  /** Hash of a final output, or undefined. */
  async result(id: RequestId): Promise<Hex | undefined> {
    const hash = await withContext(`read the result of request ${id}`, () =>
      this.#chain.client.readContract({ ...this.#assay, functionName: "resultOf", args: [id] }),
    );
    return hash === ZERO_HASH ? undefined : hash;
  }

  /** Bonds of a claim at this gas price. */
  async bonds(request: Request, gasPrice: bigint): Promise<Bonds> {
    const [bond, ticketBond] = await withContext("read the bonds of a claim", () =>
      this.#chain.client.readContract({
        ...this.#assay,
        functionName: "bondsOf",
        args: [request, gasPrice],
      }),
    );
    return { bond, ticketBond };
  }

  /** wei that the account can withdraw */
  credits(account: Address): Promise<bigint> {
    return withContext(`read the credit of ${account}`, () =>
      this.#chain.client.readContract({ ...this.#assay, functionName: "credits", args: [account] }),
    );
  }

  isProofHalted(modelId: ModelId): Promise<boolean> {
    return withContext(`read whether proofs of model ${modelId} are halted`, () =>
      this.#chain.client.readContract({ ...this.#assay, functionName: "isProofHalted", args: [modelId] }),
    );
  }

  /** @returns undefined if the model is not registered */
  async model(modelId: ModelId): Promise<ModelWord | undefined> {
    return decodeModelWord(await this.modelWord(modelId));
  }

  /** @returns 0 if the model is not registered */
  modelWord(modelId: ModelId): Promise<bigint> {
    return withContext(`read model ${modelId}`, () =>
      this.#chain.client.readContract({ ...this.#registry, functionName: "modelWord", args: [modelId] }),
    );
  }

  weightsRoot(modelId: ModelId): Promise<Hex> {
    return withContext(`read the weights root of model ${modelId}`, () =>
      this.#chain.client.readContract({ ...this.#registry, functionName: "weightsRoot", args: [modelId] }),
    );
  }

  /** The registered program's bytes, from its data contracts.
   *  @throws BaseError MODEL_UNKNOWN */
  async program(modelId: ModelId): Promise<Uint8Array> {
    const chunks = await withContext(`find the program of model ${modelId}`, () =>
      this.#chain.client.readContract({
        ...this.#registry,
        functionName: "programChunks",
        args: [modelId],
      }),
    );
    if (chunks.length === 0) {
      throw new BaseError({
        code: "MODEL_UNKNOWN",
        shortMessage: `Model ${modelId} is not registered on chain ${this.#chain.game.chainId}.`,
        nextStep: "Register it with `assay model register`.",
      });
    }
    const codes = await withContext(`read the program of model ${modelId}`, () =>
      Promise.all(chunks.map((address) => this.#chain.client.getCode({ address, ...this.#at }))),
    );
    // The first byte of each is STOP, so that nobody can run it.
    return concatBytes(...codes.map((code) => fromHex(code ?? "0x").subarray(1)));
  }
}

function zip<Key, Value>(keys: readonly Key[], values: readonly (Value | undefined)[]): Map<Key, Value> {
  const map = new Map<Key, Value>();
  for (const [index, key] of keys.entries()) {
    const value = values[index];
    if (value !== undefined) map.set(key, value);
  }
  return map;
}
