/** Takes an account's credit out of the contract: all of it at once, which the contract pays once. */
import { type Address, getAddress, type Hex, isAddress } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Actions } from "./actions.ts";
import type { BlockRef } from "./connect.ts";
import { withContext } from "./errors.ts";
import { StateReader } from "./reads.ts";
import { receiverFault } from "./receivers.ts";
import { REORG_DEPTH, type Sender, type SigningChain } from "./sender.ts";
import { requireSent } from "./sent.ts";

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
  if (result.status === "sent") log.info({ amountWei: credit }, "withdrew");
}

export interface Withdrawal {
  /** wei; 0: there was no credit, or it was withdrawn meanwhile */
  readonly amountWei: bigint;
  readonly to: Address;
  /** absent where nothing was sent */
  readonly hash?: Hex;
}

/** Takes all credit out, now.
 *  @param reserve wei that the account must hold, for what it owes, before its credit goes to another address; not asked
 *  where it comes to the account itself
 *  @throws BaseError ARGUMENT_INVALID, BALANCE_RESERVED, REFUSED; faults of the node */
export async function withdrawTo(
  { chain, sender, actions }: Pick<WithdrawParts, "chain" | "sender" | "actions">,
  to: Address,
  reserve: (newest: bigint) => bigint = () => 0n,
): Promise<Withdrawal> {
  const { client, account } = chain;
  const fault = receiverFault(chain, to);
  if (fault !== undefined) throw badReceiver(to, fault);
  // One that is on its way, as after a crash, is waited for: until it is mined its credit is still there.
  for (const { key, to: target, data, value } of sender.unmined()) {
    if (!key.startsWith("withdraw:")) continue;
    const earlier = await sender.send({ key, to: target, data, value, doneBy: ["NoCredit"] });
    if (earlier.status === "retryable") throw earlier.error;
  }
  const head = await withContext("read the newest block", () => client.getBlockNumber());
  // Before the balance is read: what is on its way counts, and is not paid twice.
  const least = to === account.address ? 0n : reserve(head);
  const [amount, balance] = await withContext("read credit and balance", () =>
    Promise.all([
      new StateReader(chain).credits(account.address),
      client.getBalance({ address: account.address }),
    ]),
  );
  if (amount === 0n) return { amountWei: amount, to };
  if (balance < least) throw reserved(account.address, balance, least);
  // A new credit is a new occasion; the same one is withdrawn once.
  const action = actions.withdraw(to, `${amount}@${head}`);
  const inclusion = requireSent("withdraw", await sender.send(action));
  // Without an inclusion another transaction of this account was faster, wherever that sent it.
  return inclusion === undefined ? { amountWei: 0n, to } : { amountWei: amount, to, hash: inclusion.hash };
}

const badReceiver = (to: Address, fault: string) =>
  new BaseError({
    code: "ARGUMENT_INVALID",
    shortMessage: `The receiver is ${to}: that is ${fault}.`,
    nextStep: "Correct --to.",
  });

const reserved = (account: Address, balance: bigint, reserve: bigint) =>
  new BaseError({
    code: "BALANCE_RESERVED",
    shortMessage: `${account} has ${formatAmount(balance)}, and what it may owe to others takes up to ${formatAmount(reserve)} of gas: its credit cannot go to another address now.`,
    nextStep:
      "Withdraw to the account itself, or send ether to it, or wait until its claims and disputes are over.",
    retryable: true,
  });

/** What a daemon tells of its obligations. */
export interface Obligations {
  /** newest block that it has looked at */
  readonly seen: () => bigint | undefined;
  /** blocks that it leaves above that */
  readonly confirmations: number;
  /** wei of gas that answers and disputes may take, by that block */
  readonly gas: () => bigint;
}

/** Blocks that a daemon may be behind its node and still tell what it owes: a journal knows what was mined for longer. */
const MAX_BEHIND = BigInt(REORG_DEPTH / 2);

/** What must stay for what the account owes, of claims and tickets too that the daemon has not seen in a block yet: bonds
 *  are at least twice the gas of a dispute. What is on its way counts as if it were still to be paid.
 *  @param newest block of the node
 *  @throws BaseError CHAIN_NOT_READ_YET */
export function reserveOf(
  { sender }: Pick<WithdrawParts, "sender">,
  { seen, confirmations, gas }: Obligations,
  newest: bigint,
): bigint {
  const block = seen();
  if (block === undefined || newest - BigInt(confirmations) - block > MAX_BEHIND)
    throw notReadYet(block, newest);
  const unseen = sender
    .unsettled()
    .filter(({ inclusion }) => inclusion === undefined || inclusion.blockNumber > block);
  return gas() + unseen.reduce((sum, { value }) => sum + (value * 3n) / 2n, 0n);
}

const notReadYet = (block: bigint | undefined, newest: bigint) =>
  new BaseError({
    code: "CHAIN_NOT_READ_YET",
    shortMessage: `The daemon has looked at ${block === undefined ? "no block" : `block ${block}`}, the newest is ${newest}: it cannot tell what it owes.`,
    nextStep: "Try again when it has caught up, or withdraw to the account itself.",
    retryable: true,
  });

/** The command of control sockets. @returns amounts as decimal text */
export function withdrawHandler(
  parts: Pick<WithdrawParts, "chain" | "sender" | "actions" | "log">,
  obligations: Obligations,
) {
  let turn: Promise<unknown> = Promise.resolve();
  return ({ to = parts.chain.account.address }: Readonly<Record<string, unknown>>): Promise<object> => {
    const own = turn.then(async () => {
      if (typeof to !== "string" || !isAddress(to)) throw notAnAddress(to);
      const { amountWei, ...rest } = await withdrawTo(parts, getAddress(to), (newest) =>
        reserveOf(parts, obligations, newest),
      );
      if (amountWei > 0n) parts.log.info({ amountWei, ...rest }, "withdrew by command");
      return { amountWei: amountWei.toString(), ...rest };
    });
    turn = own.catch(() => undefined);
    return own;
  };
}

const notAnAddress = (to: unknown) =>
  new BaseError({
    code: "ARGUMENT_INVALID",
    shortMessage: `The receiver is ${JSON.stringify(to)}: it must be an address.`,
    nextStep: "Correct --to.",
  });
