import type { Logger } from "../../base/log.ts";
import type { Actions } from "./actions.ts";
import type { BlockRef } from "./connect.ts";
import { StateReader } from "./reads.ts";
import type { Sender, SigningChain } from "./sender.ts";

export interface WithdrawParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly actions: Actions;
  /** credit from which it is withdrawn, wei */
  readonly withdrawAbove: bigint;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Takes the account's credit at this block out of the contract, if it is worth it.
 *  @throws BaseError when the node fails */
export async function withdrawCredit(
  { chain, sender, actions, withdrawAbove, signal, log }: WithdrawParts,
  { hash }: Pick<BlockRef, "hash">,
): Promise<void> {
  const { address } = chain.account;
  const credit = await new StateReader(chain, hash).credits(address);
  if (credit === 0n || credit < withdrawAbove) return;
  const result = await sender.send(actions.withdraw(address, hash), signal);
  if (result.status === "sent") log.info({ wei: credit }, "withdrew");
}
