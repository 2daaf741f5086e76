/** Rounds of a price feed, read back from its newest one. */
import { type Address, BlockNotFoundError, type Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { decodeRevert, withContext } from "../../protocol/chain/errors.ts";
import { aggregatorV3InterfaceAbi } from "../../protocol/rules/generated/abis.ts";
import type { SourceRound } from "./bars.ts";

/** Rounds that are asked for at once. */
const AT_ONCE = 32;
/** No price feed has more of them in the days that a series keeps. */
const MAX_ROUNDS = 200_000;
/** The bars' prices have 72 bits: a series refuses more, and with it all that the transaction records. */
const MAX_PRICE = (1n << 72n) - 1n;

export class SourceHistory {
  readonly #client: Chain["client"];
  readonly #source: Address;
  readonly #unit: bigint;
  /** Rounds do not change, unless a re-org takes them back; undefined for an id that has none, "unusable" for a price that the series refuses */
  readonly #known = new Map<bigint, SourceRound | "unusable" | undefined>();
  /** the block at which they were read */
  #at: { readonly number: bigint; readonly hash: Hex } | undefined;
  #reorgs = 0;

  /** @param unit divisor of the source's answers */
  constructor(client: Chain["client"], source: Address, unit: bigint) {
    this.#client = client;
    this.#source = source;
    this.#unit = unit;
  }

  /** How many times the chain was seen to have left the block at which it was read: then nothing is known any more. */
  get reorgs(): number {
    return this.#reorgs;
  }

  /** The rounds of that second and later, the newest first. Ids count down to 1 of the newest phase of a proxy: what
   *  lies before it is not read.
   *  @throws BaseError SOURCE_TOO_LONG, RPC_UNREACHABLE, RPC_FAULT (retryable) */
  async since(second: number): Promise<SourceRound[]> {
    const blockNumber = await this.#moveOn();
    const contract = { address: this.#source, abi: aggregatorV3InterfaceAbi } as const;
    const [latest] = await withContext(`read the latest round of ${this.#source}`, () =>
      this.#client.readContract({ ...contract, functionName: "latestRoundData", blockNumber }),
    );
    const rounds: SourceRound[] = [];
    for (let id = latest; ; id--) {
      if (!this.#known.has(id)) await this.#read(id, blockNumber);
      const round = this.#known.get(id);
      // One that the series refuses hides none of those before it.
      if (round === "unusable") continue;
      if (round === undefined || round.updatedAt < second) return rounds;
      rounds.push(round);
      if (rounds.length > MAX_ROUNDS) throw tooLong(this.#source);
    }
  }

  /** Forgets what was read on another chain than the node's. All is read at one block, whose hash shows that.
   *  @returns the newest block */
  async #moveOn(): Promise<bigint> {
    return withContext("read the newest block", async () => {
      const left = this.#at;
      const { number, hash } = await this.#client.getBlock();
      if (left !== undefined && (await this.#hashAt(left.number)) !== left.hash) {
        this.#known.clear();
        this.#reorgs += 1;
      }
      this.#at = { number, hash };
      return number;
    });
  }

  /** @returns undefined where the node has no such block yet, or any more */
  async #hashAt(blockNumber: bigint): Promise<Hex | undefined> {
    try {
      return (await this.#client.getBlock({ blockNumber })).hash;
    } catch (error) {
      if (error instanceof BlockNotFoundError) return undefined;
      throw error;
    }
  }

  /** @param newest of the rounds that are read, down to those that are known */
  async #read(newest: bigint, blockNumber: bigint): Promise<void> {
    const ids: bigint[] = [];
    for (let id = newest; id > newest - BigInt(AT_ONCE) && !this.#known.has(id) && id >= 0n; id--)
      ids.push(id);
    const rounds = await Promise.all(ids.map((id) => this.#readOne(id, blockNumber)));
    for (const [i, id] of ids.entries()) {
      // The newest one may still come.
      if (rounds[i] !== undefined || id !== newest) this.#known.set(id, rounds[i]);
    }
  }

  /** @returns undefined for an id that has no round yet */
  async #readOne(id: bigint, blockNumber: bigint): Promise<SourceRound | "unusable" | undefined> {
    const contract = { address: this.#source, abi: aggregatorV3InterfaceAbi } as const;
    return withContext(`read round ${id} of ${this.#source}`, async () => {
      try {
        const [, answer, , updatedAt] = await this.#client.readContract({
          ...contract,
          functionName: "getRoundData",
          args: [id],
          blockNumber,
        });
        if (updatedAt === 0n) return undefined;
        const price = answer / this.#unit;
        return price <= 0n || price > MAX_PRICE ? "unusable" : { id, price, updatedAt: Number(updatedAt) };
      } catch (error) {
        // Feeds answer an id without a round in either way.
        if (decodeRevert(error) !== undefined) return undefined;
        throw error;
      }
    });
  }
}

const tooLong = (source: Address) =>
  new BaseError({
    code: "SOURCE_TOO_LONG",
    shortMessage: `${source} has more than ${MAX_ROUNDS} rounds in the days that the series reads.`,
    nextStep: "Check that --source of the series is a price feed.",
  });
