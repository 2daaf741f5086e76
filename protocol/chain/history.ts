/** Past events that name one id. */
import { type Address, formatLog, type Hex, numberToHex, type RpcLog } from "viem";
import type { ClaimId, RequestId } from "../rules/types.ts";
import type { BlockRef, Chain } from "./connect.ts";
import { withContext } from "./errors.ts";
import { type ChainEvent, decodeEvents } from "./events.ts";

/** All events of Assay that name the id in an indexed argument, in order.
 *  @param from first block to look at; default: the deployment's
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
export const historyOf = (chain: Chain, id: ClaimId | RequestId, from?: bigint): Promise<ChainEvent[]> =>
  eventsNaming(chain, { address: chain.game.assay, id, positions: 2, from }, decodeEvents);

/** Where an id is looked for. */
export interface Naming {
  readonly address: Address;
  readonly id: Hex;
  /** indexed arguments among which it may be: 1 to 3 */
  readonly positions: number;
  /** first block to look at; default: the deployment's */
  readonly from?: bigint | undefined;
}

/** All events of a contract that name an id in one of the first indexed arguments, in order.
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function eventsNaming<Event extends Placed>(
  { client, deployment, ranges }: Pick<Chain, "client" | "deployment" | "ranges">,
  { address, id, positions, from = deployment.block.number }: Naming,
  decode: (logs: readonly MinedLog[]) => Event[],
): Promise<Event[]> {
  const query = (topics: (Hex | null)[], to: bigint) =>
    ranges.ask(from, to, (first, last) =>
      client.request({
        method: "eth_getLogs",
        params: [{ address, fromBlock: numberToHex(first), toBlock: numberToHex(last), topics }],
      }),
    );
  const found = await withContext(`read the events of ${id}`, async () => {
    const head = await client.getBlockNumber();
    const before = Array.from({ length: positions }, (_, i) => new Array<null>(i + 1).fill(null));
    return Promise.all(before.map((nulls) => query([...nulls, id], head)));
  });
  const logs = new Map<string, RpcLog>();
  for (const log of found.flat()) logs.set(`${log.blockNumber}/${log.logIndex}`, log);
  return inOrder(decode([...logs.values()].map((log) => formatLog(log) as MinedLog)));
}

interface Placed {
  readonly block: BlockRef;
  readonly logIndex: number;
}

/** By block and position in it. */
export const inOrder = <Event extends Placed>(events: readonly Event[]): Event[] =>
  [...events].sort((a, b) => Number(a.block.number - b.block.number) || a.logIndex - b.logIndex);

type MinedLog = Parameters<typeof decodeEvents>[0][number];
