/** Rounds of a price feed, read back from its newest one. */
import type { Address } from "viem";
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
  /** rounds do not change; undefined for an id that has none, "unusable" for a price that the series refuses */
  readonly #known = new Map<bigint, SourceRound | "unusable" | undefined>();

  /** @param unit divisor of the source's answers */
  constructor(client: Chain["client"], source: Address, unit: bigint) {
    this.#client = client;
    this.#source = source;
    this.#unit = unit;
  }

  /** The rounds of that second and later, the newest first. Ids count down to 1 of the newest phase of a proxy: what
   *  lies before it is not read.
   *  @throws BaseError SOURCE_TOO_LONG, RPC_UNREACHABLE, RPC_FAULT (retryable) */
  async since(second: number): Promise<SourceRound[]> {
    const contract = { address: this.#source, abi: aggregatorV3InterfaceAbi } as const;
    const [latest] = await withContext(`read the latest round of ${this.#source}`, () =>
      this.#client.readContract({ ...contract, functionName: "latestRoundData" }),
    );
    const rounds: SourceRound[] = [];
    for (let id = latest; ; id--) {
      if (!this.#known.has(id)) await this.#read(id);
      const round = this.#known.get(id);
      // One that the series refuses hides none of those before it.
      if (round === "unusable") continue;
      if (round === undefined || round.updatedAt < second) return rounds;
      rounds.push(round);
      if (rounds.length > MAX_ROUNDS) throw tooLong(this.#source);
    }
  }

  /** @param newest of the rounds that are read, down to those that are known */
  async #read(newest: bigint): Promise<void> {
    const ids: bigint[] = [];
    for (let id = newest; id > newest - BigInt(AT_ONCE) && !this.#known.has(id) && id >= 0n; id--)
      ids.push(id);
    const rounds = await Promise.all(ids.map((id) => this.#readOne(id)));
    for (const [i, id] of ids.entries()) {
      // The newest one may still come.
      if (rounds[i] !== undefined || id !== newest) this.#known.set(id, rounds[i]);
    }
  }

  /** @returns undefined for an id that has no round yet */
  async #readOne(id: bigint): Promise<SourceRound | "unusable" | undefined> {
    const contract = { address: this.#source, abi: aggregatorV3InterfaceAbi } as const;
    return withContext(`read round ${id} of ${this.#source}`, async () => {
      try {
        const [, answer, , updatedAt] = await this.#client.readContract({
          ...contract,
          functionName: "getRoundData",
          args: [id],
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
