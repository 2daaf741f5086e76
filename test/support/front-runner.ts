/** A bot that copies whatever it sees in the mempool and pays more to be first. */
import type { LocalAccount } from "viem";
import { watchMempool } from "./mempool.ts";
import { type System, systemAccount } from "./system.ts";

export interface FrontRunner {
  readonly account: LocalAccount;
  /** moves that it copied, in order */
  readonly copied: readonly string[];
  stop(): Promise<void>;
}

const TIP_MORE = 10n ** 9n;
const GAS = 3_000_000n;

/** @param index of its account @param budget most wei that it puts into one move */
export async function startFrontRunner(system: System, index: number, budget: bigint): Promise<FrontRunner> {
  const account = systemAccount(index);
  const { client, game } = system.chain;
  const copied: string[] = [];
  let nonce = await client.getTransactionCount({ address: account.address });
  const stop = watchMempool(system, async ({ from, move, data, value, tip, isMined }) => {
    // A request that is copied is a request of one's own, to be paid for.
    if (isMined || from === account.address || move === "request" || value > budget) return;
    const serializedTransaction = await account.signTransaction({
      type: "eip1559",
      chainId: game.chainId,
      to: game.assay,
      data,
      value,
      gas: GAS,
      nonce,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: tip + TIP_MORE,
    });
    await client.sendRawTransaction({ serializedTransaction });
    nonce += 1;
    copied.push(move);
  });
  return { account, copied, stop };
}
