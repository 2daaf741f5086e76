/** Finds the block in which a contract that stands already was created: events of the system start there. */
import type { Address, PublicClient } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { BlockRef } from "../connect.ts";
import { chainError, withContext } from "../errors.ts";
import { PROXY_ADDRESS, PROXY_CODE } from "./proxy.ts";

/** By bisection over the code at old blocks.
 *  @param given a block that the caller names instead: no event of the system may be older
 *  @throws BaseError HISTORY_MISSING where the node does not know old state */
export async function firstBlock(client: PublicClient, address: Address, given?: bigint): Promise<BlockRef> {
  const number = given ?? (await created(client, address));
  const { hash } = await withContext(`read block ${number}`, () => client.getBlock({ blockNumber: number }));
  return { number, hash };
}

async function created(client: PublicClient, address: Address): Promise<bigint> {
  try {
    const standsAt = async (blockNumber: bigint) =>
      ((await client.getCode({ address, blockNumber })) ?? "0x") !== "0x";
    let [absent, present] = [-1n, await client.getBlockNumber()];
    while (present - absent > 1n) {
      const middle = (absent + present) / 2n;
      if (await standsAt(middle)) present = middle;
      else absent = middle;
    }
    // Some nodes give empty code for state that they have thrown away. The proxy made the contract, so it was there.
    if (absent < 0n || (await client.getCode({ address: PROXY_ADDRESS, blockNumber: absent })) === PROXY_CODE)
      return present;
  } catch (cause) {
    const fault = chainError(cause, "find the block of the registry");
    throw fault.code === "RPC_FAULT" ? historyMissing(address, cause) : fault;
  }
  throw historyMissing(address);
}

const historyMissing = (address: Address, cause?: unknown) =>
  new BaseError({
    code: "HISTORY_MISSING",
    shortMessage: `The node does not know in which block ${address} was created: its old states are gone.`,
    nextStep:
      "Use an archive node, or name the block with --first-block: the explorer shows it, and an earlier one is right as well.",
    details: { address },
    cause,
  });
