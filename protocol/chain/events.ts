/** Logs of Assay and the registry as events with the protocol's types. */
import { type Address, type Hex, type Log, type ParseEventLogsReturnType, parseEventLogs } from "viem";
import { iAssayAbi, iModelRegistryAbi } from "../rules/generated/abis.ts";
import { decodeOrder } from "../rules/orders.ts";
import type { Claim, ClaimId, ModelId, Request, RequestId } from "../rules/types.ts";
import type { BlockRef } from "./connect.ts";

const eventAbi = [...iAssayAbi, ...iModelRegistryAbi] as const;

type Decoded = ParseEventLogsReturnType<typeof eventAbi, undefined, true>[number];
interface Terms {
  readonly requestId: RequestId;
  readonly claimId: ClaimId;
  readonly modelId: ModelId;
  readonly claim: Claim;
}
type WithTerms<Args> = { readonly [Name in keyof Args]: Name extends keyof Terms ? Terms[Name] : Args[Name] };
/** An order is read as the request and the input that it stands for. */
interface RequestedArgs {
  readonly requestId: RequestId;
  readonly modelId: ModelId;
  readonly request: Request;
  readonly input: Hex;
}
type Named<Event> = Event extends { eventName: infer Name; args: infer Args }
  ? { readonly name: Name; readonly args: Name extends "Requested" ? RequestedArgs : WithTerms<Args> }
  : never;

/** An event of Assay or the registry; narrow it by `name`. */
export type ChainEvent = Named<Decoded> & {
  readonly contract: Address;
  readonly block: BlockRef;
  readonly logIndex: number;
  readonly transactionHash: Hex;
};
export type EventName = ChainEvent["name"];
export type EventOf<Name extends EventName> = Extract<ChainEvent, { readonly name: Name }>;

/** What an event is about; one of a claim need not name its request. */
export function subjectOf({ args }: ChainEvent): {
  readonly requestId?: RequestId;
  readonly claimId?: ClaimId;
} {
  return {
    ...("requestId" in args ? { requestId: args.requestId } : {}),
    ...("claimId" in args ? { claimId: args.claimId } : {}),
  };
}

/** Decodes mined logs in their order; logs that are none of ours are left out. */
export function decodeEvents(logs: readonly Log<bigint, number, false>[]): ChainEvent[] {
  return parseEventLogs({ abi: eventAbi, logs: [...logs], strict: true }).map((log) => {
    const event = {
      name: log.eventName,
      args: log.eventName === "Requested" ? requestedArgs(log.args) : log.args,
      contract: log.address,
      block: { number: log.blockNumber, hash: log.blockHash },
      logIndex: log.logIndex,
      transactionHash: log.transactionHash,
    };
    // The ABI has no words for our ids; their values are the same hex.
    return event as unknown as ChainEvent;
  });
}

/** @throws BaseError ORDER_MALFORMED for an event that is not Assay's */
function requestedArgs(args: OrderedArgs): RequestedArgs {
  const [requestId, modelId] = [args.requestId as RequestId, args.modelId as ModelId];
  return { requestId, modelId, ...decodeOrder(modelId, args.order) };
}

type OrderedArgs = Extract<Decoded, { eventName: "Requested" }>["args"];
