/** State of a feed and of the series behind it. */
import {
  type Address,
  ContractFunctionZeroDataError,
  getAddress,
  type Hex,
  isAddressEqual,
  keccak256,
  BaseError as ViemError,
  zeroAddress,
} from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { chainError, decodeRevert } from "../../protocol/chain/errors.ts";
import {
  aggregatorV3InterfaceAbi,
  dailySeriesAbi,
  forecastFeedAbi,
} from "../../protocol/rules/generated/abis.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { type Bar, dayOf } from "./bars.ts";

/** What does not change. */
export interface Feed {
  readonly address: Address;
  readonly modelId: ModelId;
  readonly selector: Hex;
  readonly description: string;
  readonly decimals: number;
  /** whether the chain runs the model for it */
  readonly executes: boolean;
  readonly lanes: number;
  /** wei */
  readonly minBond: bigint;
  /** seconds */
  readonly minWindow: number;
  /** seconds */
  readonly maxAge: number;
  readonly series: Series;
}

export interface Series {
  readonly address: Address;
  readonly source: Address;
  /** days of an input */
  readonly length: number;
  readonly keptDays: number;
  /** seconds behind a day's end in which it does not count yet */
  readonly grace: number;
  /** divisor of the source's answers */
  readonly unit: bigint;
}

/** @throws BaseError FEED_UNKNOWN, FEED_OF_OTHER_ASSAY; RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function readFeed(chain: Chain, given: Address): Promise<Feed> {
  const address = getAddress(given);
  const contract = { address, abi: forecastFeedAbi } as const;
  const { client, game } = chain;
  try {
    const assay = await client.readContract({ ...contract, functionName: "assay" });
    if (!isAddressEqual(assay, game.assay)) throw ofOtherAssay(address, assay, game.assay);
    const [modelId, selector, description, decimals, interpreter] = await Promise.all([
      client.readContract({ ...contract, functionName: "modelId" }),
      client.readContract({ ...contract, functionName: "selector" }),
      client.readContract({ ...contract, functionName: "description" }),
      client.readContract({ ...contract, functionName: "decimals" }),
      client.readContract({ ...contract, functionName: "interpreter" }),
    ]);
    const [lanes, minBond, minWindow, maxAge, series] = await Promise.all([
      client.readContract({ ...contract, functionName: "lanes" }),
      client.readContract({ ...contract, functionName: "minBond" }),
      client.readContract({ ...contract, functionName: "minWindow" }),
      client.readContract({ ...contract, functionName: "maxAge" }),
      client.readContract({ ...contract, functionName: "series" }),
    ]);
    const executes = !isAddressEqual(interpreter, zeroAddress);
    const terms = { lanes, minBond, minWindow, maxAge };
    const about = { modelId: modelId as ModelId, selector, description, decimals, executes };
    return { address, ...about, ...terms, series: await readSeries(chain, series) };
  } catch (error) {
    if (isNoFeed(error)) throw unknown(address, error);
    throw chainError(error, `read the feed ${address}`);
  }
}

async function readSeries({ client }: Chain, address: Address): Promise<Series> {
  const contract = { address, abi: dailySeriesAbi } as const;
  const [source, length, keptDays, grace] = await Promise.all([
    client.readContract({ ...contract, functionName: "source" }),
    client.readContract({ ...contract, functionName: "length" }),
    client.readContract({ ...contract, functionName: "KEPT_DAYS" }),
    client.readContract({ ...contract, functionName: "grace" }),
  ]);
  const decimals = await client.readContract({
    address: source,
    abi: aggregatorV3InterfaceAbi,
    functionName: "decimals",
  });
  // As the contract's constructor has it.
  const unit = decimals > 8 ? 10n ** BigInt(decimals - 8) : 1n;
  return { address, source, length: Number(length), keptDays: Number(keptDays), grace: Number(grace), unit };
}

export interface Newest {
  readonly input: Hex;
  readonly inputHash: Hex;
  /** seconds */
  readonly observedAt: number;
}

/** The series' newest input, as the feed's contract would read it now; undefined while there are too few days. */
export async function readNewest({ client }: Chain, { selector, series }: Feed): Promise<Newest | undefined> {
  try {
    const [input, observedAt] = await client.readContract({
      address: series.address,
      abi: dailySeriesAbi,
      functionName: "newest",
      args: [selector],
    });
    return { input, inputHash: keccak256(input), observedAt };
  } catch (error) {
    const revert = decodeRevert(error);
    if (revert?.name === "TooFewDays") return undefined;
    throw error;
  }
}

export async function readBar({ client }: Chain, series: Address, day: number): Promise<Bar> {
  const bar = await client.readContract({
    address: series,
    abi: dailySeriesAbi,
    functionName: "barOf",
    args: [BigInt(day)],
  });
  return bar;
}

export const closeAt = async (chain: Chain, series: Address, second: number): Promise<bigint | undefined> => {
  const bar = await readBar(chain, series, dayOf(second));
  return bar.closeAt === 0 ? undefined : bar.close;
};

export interface FeedRound {
  readonly roundId: bigint;
  readonly answer: bigint;
  readonly observedAt: number;
  readonly writtenAt: number;
}

/** @param id 1 to the latest */
export async function readRound({ client }: Chain, feed: Address, id: bigint): Promise<FeedRound> {
  const [roundId, answer, observedAt, writtenAt] = await client.readContract({
    address: feed,
    abi: forecastFeedAbi,
    functionName: "getRoundData",
    args: [id],
  });
  return { roundId, answer, observedAt: Number(observedAt), writtenAt: Number(writtenAt) };
}

/** Undefined before the first round. */
export async function readLatest(chain: Chain, feed: Address): Promise<FeedRound | undefined> {
  const contract = { address: feed, abi: forecastFeedAbi } as const;
  const id = await chain.client.readContract({ ...contract, functionName: "latestRound" });
  return id === 0n ? undefined : readRound(chain, feed, id);
}

/** Whether an input was announced with data as new. Prices that do not move make one input day after day, and a round
 *  is as new as its last announcement. */
export const isAnnounced = async (
  { client }: Chain,
  feed: Address,
  { inputHash, observedAt }: Newest,
): Promise<boolean> =>
  (await client.readContract({
    address: feed,
    abi: forecastFeedAbi,
    functionName: "observedAtOf",
    args: [inputHash],
  })) >= observedAt;

/** Somebody else's contract, or none. */
const isNoFeed = (error: unknown): boolean =>
  decodeRevert(error) !== undefined ||
  (error instanceof ViemError &&
    error.walk((link) => link instanceof ContractFunctionZeroDataError) !== null);

const unknown = (feed: Address, cause: unknown) =>
  new BaseError({
    code: "FEED_UNKNOWN",
    shortMessage: `There is no forecast feed at ${feed}.`,
    nextStep: "Check address and chain; `assay feed deploy` prints a feed's address.",
    cause,
  });

const ofOtherAssay = (feed: Address, assay: Address, ours: Address) =>
  new BaseError({
    code: "FEED_OF_OTHER_ASSAY",
    shortMessage: `The feed ${feed} takes outputs of the Assay contract ${assay}, the deployment file names ${ours}.`,
    nextStep: "Give the deployment file of that system with --deployment.",
  });
