/** One transaction of a random play, in the machine and on the chain. */
import type { Hex } from "viem";
import type { Action } from "../../protocol/chain/actions.ts";
import { decodeRevert } from "../../protocol/chain/errors.ts";
import { type GameState, type Move, play } from "../../protocol/rules/machine.ts";
import type { LocalChain } from "./anvil.ts";

/** @property further moves of the same transaction
 *  @property refusedAs what the contract refuses besides, before and after all moves */
export interface AllOrNone {
  readonly move: Move;
  readonly further?: readonly Move[];
  readonly refusedAs?: { readonly before?: string | undefined; readonly after?: string | undefined };
}

type Result = ReturnType<typeof play>;

/** Plays all moves or none. */
export function playAll(state: GameState, { move, further = [], refusedAs = {} }: AllOrNone): Result {
  const { before, after } = refusedAs;
  if (before !== undefined) return { ok: false, refusal: before } as Result;
  let result = play(state, move);
  for (const next of further) if (result.ok) result = play(result.state, next);
  return result.ok && after !== undefined ? ({ ok: false, refusal: after } as Result) : result;
}

/** Sends the action in a block of the move's second, base fee 1.
 *  @returns the refusal's name, or undefined */
export async function sendAs(
  local: LocalChain,
  { from, now }: Move,
  { to, data, value }: Action,
): Promise<string | undefined> {
  await local.control.setNextBlockTimestamp({ timestamp: BigInt(now) });
  await local.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 1n });
  const call = {
    from,
    to,
    data,
    value: `0x${value.toString(16)}`,
    gas: "0x5b8d80",
    maxFeePerGas: "0x2",
    maxPriorityFeePerGas: "0x1",
  };
  const hash = (await local.control.request({
    method: "eth_sendTransaction",
    params: [call],
  } as never)) as Hex;
  await local.control.mine({ blocks: 1 });
  const receipt = await local.client.getTransactionReceipt({ hash });
  if (receipt.status === "success") return undefined;
  const blockNumber = receipt.blockNumber - 1n;
  const blockOverrides = { time: BigInt(now), baseFeePerGas: 1n };
  try {
    await local.client.call({ account: from, to, data, value, gas: 6_000_000n, blockNumber, blockOverrides });
  } catch (error) {
    return decodeRevert(error)?.name;
  }
  throw new Error("it reverted, and its repetition did not");
}
