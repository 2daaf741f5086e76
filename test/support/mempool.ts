/** What waits to be mined on a system's chain, seen as soon as it is there. */
import { type Address, decodeFunctionData, getAddress, type Hex } from "viem";
import { pause } from "../../protocol/chain/follower.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import type { System } from "./system.ts";

/** A transaction to the contract Assay. */
export interface PendingMove {
  readonly from: Address;
  /** name of the contract's function */
  readonly move: string;
  readonly hash: Hex;
  readonly data: Hex;
  /** wei */
  readonly value: bigint;
  /** wei a unit of gas */
  readonly tip: bigint;
  /** true where a block had it before it was seen */
  readonly isMined: boolean;
}

interface PoolTransaction {
  readonly from: Hex;
  readonly to: Hex | null;
  readonly hash: Hex;
  readonly input: Hex;
  readonly value: Hex;
  readonly maxPriorityFeePerGas?: Hex;
}

const POLL_MS = 50;

/** Shows every move once, until it is stopped: while it waits to be mined, or as soon as the node tells of it where a
 *  block was faster than this process, which a busy machine may hold up for longer than a block takes.
 *  @param heldUp until when this process reads nothing, as on a busy machine; what is sent meanwhile is shown then
 *  @returns how to stop it, after the last one was handled */
export function watchMempool(
  system: System,
  onMove: (move: PendingMove) => Promise<void> | void,
  heldUp?: Promise<void>,
): () => Promise<void> {
  const stopping = new AbortController();
  const seen = new Set<Hex>();
  const assay = getAddress(system.chain.game.assay);
  const show = async (transaction: PoolTransaction, isMined: boolean): Promise<void> => {
    const { from, to, hash, input, value, maxPriorityFeePerGas = "0x0" } = transaction;
    if (seen.has(hash) || to === null || getAddress(to) !== assay) return;
    seen.add(hash);
    const { functionName: move } = decodeFunctionData({ abi: iAssayAbi, data: input });
    const facts = { from: getAddress(from), move, hash, data: input, isMined };
    await onMove({ ...facts, value: BigInt(value), tip: BigInt(maxPriorityFeePerGas) });
  };
  const call = (method: string, params: readonly unknown[]): Promise<unknown> =>
    system.control.request({ method, params } as unknown as Parameters<typeof system.control.request>[0]);
  // Asked for at once: what is sent from now on is told.
  const filter = call("eth_newPendingTransactionFilter", []);
  const poll = async (): Promise<void> => {
    const hashes = (await call("eth_getFilterChanges", [await filter])) as Hex[];
    const pool = await system.control.getTxpoolContent();
    const waiting = Object.values(pool.pending).flatMap((byNonce) => Object.values(byNonce));
    for (const transaction of waiting as unknown as PoolTransaction[]) await show(transaction, false);
    for (const hash of hashes.filter((one) => !seen.has(one))) {
      const found = (await call("eth_getTransactionByHash", [hash])) as
        | (PoolTransaction & { blockHash: Hex | null })
        | null;
      if (found !== null) await show(found, found.blockHash !== null);
    }
  };
  const watching = (async () => {
    await heldUp;
    while (!stopping.signal.aborted) {
      await poll();
      await pause(POLL_MS, stopping.signal);
    }
    await poll();
  })();
  return () => {
    stopping.abort();
    return watching;
  };
}
