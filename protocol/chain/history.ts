/** Past events of one claim or one request. */
import { formatLog, type Hex, numberToHex, type RpcLog } from "viem";
import type { ClaimId, RequestId } from "../rules/types.ts";
import type { Chain } from "./connect.ts";
import { withContext } from "./errors.ts";
import { type ChainEvent, decodeEvents } from "./events.ts";

/** All events that name the id in an indexed argument, in order.
 *  @param from first block to look at; default: the deployment's
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function historyOf(
  { client, deployment, game, ranges }: Chain,
  id: ClaimId | RequestId,
  from: bigint = deployment.block.number,
): Promise<ChainEvent[]> {
  const query = (topics: (Hex | null)[], to: bigint) =>
    ranges.ask(from, to, (first, last) =>
      client.request({
        method: "eth_getLogs",
        params: [{ address: game.assay, fromBlock: numberToHex(first), toBlock: numberToHex(last), topics }],
      }),
    );
  // Every event of Assay has its ids in the first two indexed arguments.
  const found = await withContext(`read the events of ${id}`, async () => {
    const head = await client.getBlockNumber();
    return Promise.all([query([null, id], head), query([null, null, id], head)]);
  });
  const logs = new Map<string, RpcLog>();
  for (const log of found.flat()) logs.set(`${log.blockNumber}/${log.logIndex}`, log);
  const events = decodeEvents([...logs.values()].map((log) => formatLog(log) as MinedLog));
  return inOrder(events);
}

/** By block and position in it. */
export const inOrder = (events: readonly ChainEvent[]): ChainEvent[] =>
  [...events].sort((a, b) => Number(a.block.number - b.block.number) || a.logIndex - b.logIndex);

type MinedLog = Parameters<typeof decodeEvents>[0][number];
