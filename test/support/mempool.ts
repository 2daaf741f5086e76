/** What waits to be mined on a system's chain, seen as soon as it is there. */
import { type Address, decodeFunctionData, getAddress, type Hex } from "viem";
import { pause } from "../../protocol/chain/follower.ts";
import { iAssayAbi } from "../../protocol/generated/abis.ts";
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

/** Shows every move once, until it is stopped. @returns how to stop it, after the last one was handled */
export function watchMempool(
  system: System,
  onMove: (move: PendingMove) => Promise<void> | void,
): () => Promise<void> {
  const stopping = new AbortController();
  const seen = new Set<Hex>();
  const assay = getAddress(system.chain.game.assay);
  const look = async (): Promise<void> => {
    const pool = await system.control.getTxpoolContent();
    const waiting = Object.values(pool.pending).flatMap((byNonce) => Object.values(byNonce));
    for (const {
      from,
      to,
      hash,
      input,
      value,
      maxPriorityFeePerGas = "0x0",
    } of waiting as unknown as PoolTransaction[]) {
      if (seen.has(hash) || to === null || getAddress(to) !== assay) continue;
      seen.add(hash);
      const { functionName: move } = decodeFunctionData({ abi: iAssayAbi, data: input });
      const facts = { from: getAddress(from), move, hash, data: input };
      await onMove({ ...facts, value: BigInt(value), tip: BigInt(maxPriorityFeePerGas) });
    }
  };
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await pause(POLL_MS, stopping.signal);
    }
  })();
  return () => {
    stopping.abort();
    return watching;
  };
}
