/** Clients over as many nodes as a setting names. */
import type { PublicClient } from "viem";
import type { Logger } from "../../../base/log.ts";
import { clientOver, createClient, httpOptions } from "../connect.ts";
import { httpNode } from "./nodes.ts";
import { Quorum } from "./transport.ts";
import { rpcUrlsOf } from "./urls.ts";

export interface NodeSettings {
  /** of a node, or of several, separated by commas */
  readonly rpcUrl: string;
  /** how many of several have to agree; absent: all of two, a majority of more */
  readonly quorum?: number | undefined;
}

const TIMEOUT_MS = 10_000;

/** @returns undefined for one node, which is believed @throws BaseError QUORUM_INVALID */
export function quorumOf({ rpcUrl, quorum }: NodeSettings, log?: Logger): Quorum | undefined {
  const urls = rpcUrlsOf(rpcUrl);
  if (urls.length === 1 && quorum === undefined) return undefined;
  const nodes = urls.map((url, index) => httpNode(url, index, httpOptions(TIMEOUT_MS)));
  return new Quorum(nodes, { timeoutMs: TIMEOUT_MS, quorum, ...(log && { log }) });
}

/** A client without the checks of `connect`. @throws BaseError QUORUM_INVALID */
export function nodeClient(settings: NodeSettings, timeoutMs?: number, retryCount?: number): PublicClient {
  const quorum = quorumOf(settings);
  return quorum === undefined
    ? createClient(settings.rpcUrl, timeoutMs, retryCount)
    : clientOver(quorum.transport);
}
