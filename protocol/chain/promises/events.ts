/** Logs of Promises as events with the protocol's types. */
import { type Address, type Hex, type Log, type ParseEventLogsReturnType, parseEventLogs } from "viem";
import { iPromisesAbi } from "../../rules/generated/abis.ts";
import type { Batch, BatchId } from "../../rules/promises/batch.ts";
import type { Digest, SignedClaim } from "../../rules/promises/signed-claim.ts";
import type { ClaimId, ModelId } from "../../rules/types.ts";
import type { BlockRef, Chain } from "../connect.ts";
import type { Deployment } from "../deployment.ts";
import type { LogSource } from "../follower.ts";
import { eventsNaming } from "../history.ts";
import { promisesOf } from "./place.ts";

type Decoded = ParseEventLogsReturnType<typeof iPromisesAbi, undefined, true>[number];
interface Terms {
  readonly digest: Digest;
  readonly batchId: BatchId;
  readonly claimId: ClaimId;
  readonly modelId: ModelId;
  readonly signed: SignedClaim;
  readonly batch: Batch;
  /** of a closed claim: what it was filed for */
  readonly origin: Digest | BatchId;
}
type WithTerms<Args> = { readonly [Name in keyof Args]: Name extends keyof Terms ? Terms[Name] : Args[Name] };
type Named<Event> = Event extends { eventName: infer Name; args: infer Args }
  ? { readonly name: Name; readonly args: WithTerms<Args> }
  : never;

/** An event of Promises; narrow it by `name`. Some of Assay's events have the same names and are none of these. */
export type PromiseEvent = Named<Decoded> & {
  readonly contract: Address;
  readonly block: BlockRef;
  readonly logIndex: number;
  readonly transactionHash: Hex;
};
export type PromiseEventName = PromiseEvent["name"];
export type PromiseEventOf<Name extends PromiseEventName> = Extract<PromiseEvent, { readonly name: Name }>;

/** Decodes mined logs of Promises in their order; others are left out. */
export function decodePromiseEvents(logs: readonly Log<bigint, number, false>[]): PromiseEvent[] {
  return parseEventLogs({ abi: iPromisesAbi, logs: [...logs], strict: true }).map((log) => {
    const { eventName: name, args, address: contract, logIndex, transactionHash } = log;
    const block = { number: log.blockNumber, hash: log.blockHash };
    // The ABI has no words for our ids; their values are the same hex, and indexed leaves are small numbers.
    return { name, args, contract, block, logIndex, transactionHash } as unknown as PromiseEvent;
  });
}

/** For an EventFollower of its own.
 *  @throws BaseError PROMISES_MISSING */
export const promiseSource = (deployment: Deployment): LogSource<PromiseEvent> => ({
  addresses: [promisesOf(deployment).promises],
  decode: decodePromiseEvents,
});

/** All events that name a signed claim, a batch, a claim in Assay or a prover, in order.
 *  @param id a prover's address as 32 bytes @param from first block to look at; default: the deployment's
 *  @throws BaseError PROMISES_MISSING; RPC_UNREACHABLE, RPC_FAULT (retryable) */
export const promiseHistory = (
  chain: Pick<Chain, "client" | "deployment" | "ranges">,
  id: Hex,
  from?: bigint,
): Promise<PromiseEvent[]> =>
  eventsNaming(
    chain,
    { address: promisesOf(chain.deployment).promises, id, positions: 3, from },
    decodePromiseEvents,
  );

/** The signed claim or the batch that an event is about; absent where it is about an account alone. */
export function subjectOf({ args }: PromiseEvent): Digest | BatchId | undefined {
  if ("digest" in args) return args.digest;
  if ("batchId" in args) return args.batchId;
  return "origin" in args ? args.origin : undefined;
}
