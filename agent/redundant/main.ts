/** Wires an executor of redundant results together. */
import { type Address, encodeFunctionData, getAddress, isAddressEqual } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import { redundantResultsAbi } from "../../protocol/rules/generated/abis.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { postCalldata } from "../metadata/call.ts";
import { RedundantNode } from "./node.ts";
import { readTerms, roundEvents, type Terms } from "./rounds.ts";
import { ROUNDS_SCHEMA, RoundStore } from "./store.ts";

export interface RedundantOptions {
  readonly chain: SigningChain;
  readonly results: Address;
  /** of this executor's own agent: calldata to return data by POST */
  readonly agentUrl: string;
  readonly timeoutMs: number;
  /** folder of database and journal */
  readonly data: string;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
  readonly maxFee: bigint;
  readonly log: Logger;
}

/** Puts up the bond if there is none yet, then answers rounds until the signal aborts.
 *  @throws BaseError NOT_EXECUTOR, NOT_SEATED, and as openDataFolder does */
export async function runRedundant(options: RedundantOptions, signal: AbortSignal): Promise<void> {
  const { chain, agentUrl, timeoutMs, pollIntervalMs, confirmations, log } = options;
  // One spelling: the journal knows a move, the bond's too, by the contract's address.
  const results = getAddress(options.results);
  const folder = openDataFolder(options.data, chain, [ROUNDS_SCHEMA], {
    pollIntervalMs,
    maxFeePerGas: options.maxFee,
    log,
  });
  try {
    const terms = await readTerms(chain, results);
    await takeSeat(chain, folder.sender, results, terms, signal);
    const store = new RoundStore(folder.db, results);
    const maxBytes = terms.maxOutputBytes;
    const node = new RedundantNode({
      chain,
      sender: folder.sender,
      store,
      results,
      terms,
      answer: (calldata) => postCalldata(agentUrl, calldata, { timeoutMs, maxBytes }),
      log,
      nowMs: Date.now,
      signal,
    });
    const follower = new EventFollower(
      chain,
      { pollIntervalMs, confirmations, log, cursor: store.cursor() },
      roundEvents(results),
    );
    log.info({ account: chain.account.address, results, agentUrl }, "redundant executor is up");
    await follower.run(
      (batch) => node.take(batch),
      signal,
      (now) => node.onTime(now),
    );
    await node.stop();
    log.info({}, "redundant executor stopped");
  } finally {
    await folder.close();
  }
}

/** A bond is put up once in the life of a data folder: one that was lost by a conviction is not put up again. */
async function takeSeat(
  { client, account }: SigningChain,
  sender: Sender,
  results: Address,
  { executors, bondWei }: Terms,
  signal: AbortSignal,
): Promise<void> {
  if (!executors.some((executor) => isAddressEqual(executor, account.address))) {
    throw new BaseError({
      code: "NOT_EXECUTOR",
      shortMessage: `${account.address} is none of the ${executors.length} executors of ${results}.`,
      nextStep: "Use the key of one; they were fixed when the contract was deployed.",
    });
  }
  const seat = () =>
    withContext("read the executor's seat", () =>
      client.readContract({
        address: results,
        abi: redundantResultsAbi,
        functionName: "seats",
        args: [account.address],
      }),
    );
  const [bond, freeAt] = await seat();
  if (freeAt === 0 && bond >= bondWei) return;
  if (freeAt === 0 && bond === 0n) {
    const data = encodeFunctionData({ abi: redundantResultsAbi, functionName: "deposit" });
    const action = { key: `deposit:${results}`, to: results, data, value: bondWei, doneBy: [] };
    const sent = await sender.send(action, signal);
    if (sent.status === "retryable") throw sent.error;
    if ((await seat())[0] >= bondWei) return;
  }
  throw new BaseError({
    code: "NOT_SEATED",
    shortMessage: `${account.address} has a bond of ${formatAmount(bond)} of ${formatAmount(bondWei)} at ${results}${freeAt === 0 ? "" : ", and has retired"}.`,
    nextStep:
      "After a conviction find out why it answered wrongly first; a new data folder puts up a new bond. After retiring, take the bond out.",
  });
}
