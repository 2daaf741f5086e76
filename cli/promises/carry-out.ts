/** Moves on promises by commands: sent and waited for, or with --dry-run only simulated. */
import type { Command } from "commander";
import { type Address, getAddress, type Hex, isAddress } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import type { Action } from "../../protocol/chain/actions.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { currentFees } from "../../protocol/chain/fees.ts";
import { transactionLink } from "../../protocol/chain/presets.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { requireAccount, type SigningChain } from "../../protocol/chain/sender.ts";
import { requireSent } from "../../protocol/chain/sent.ts";
import { simulate } from "../../protocol/chain/transactions.ts";
import { type ChainConfig, openChain, withSender } from "../chain.ts";
import { linked } from "../chain-links.ts";
import { refuseArgument } from "../output.ts";

export const actionsOn = ({ deployment, game }: Chain): PromiseActions =>
  new PromiseActions(promisesOf(deployment), game);
/** Doing the same again later is another move. */
export const occasionOf = async ({ client }: Chain): Promise<string> => `${await client.getBlockNumber()}`;

/** @throws BaseError ARGUMENT_INVALID */
export const addressArgument = (name: string, text: string): Address =>
  isAddress(text) ? getAddress(text) : refuseArgument(name, text, "an address");

export const withDryRun = (command: Command): Command =>
  command.option("--dry-run", "simulate the transaction, print its gas and value, and send nothing");

export interface CarriedOut {
  /** of the transaction; absent: it was only simulated, or the effect was there already */
  readonly hash?: Hex;
  /** of the simulation */
  readonly gas?: bigint;
  readonly valueWei: bigint;
}

/** @param what of the move, as a verb @param make the move, from what the chain says
 *  @throws BaseError KEY_MISSING, REFUSED; what `make` throws; faults of the node */
export async function carryOut(
  config: ChainConfig,
  isDryRun: boolean,
  what: string,
  make: (chain: SigningChain) => Promise<Action>,
): Promise<CarriedOut> {
  if (!isDryRun) {
    return withSender(config, async (chain, sender) => {
      const action = await make(chain);
      const inclusion = requireSent(what, await sender.send(action));
      return { valueWei: action.value, ...(inclusion === undefined ? {} : { hash: inclusion.hash }) };
    });
  }
  const chain = requireAccount(await openChain(config));
  const action = await make(chain);
  const fees = await currentFees(chain.client, config.maxFee);
  const result = await simulate(chain.client, chain.account, action, fees);
  if (typeof result === "bigint") return { gas: result, valueWei: action.value };
  throw new BaseError({
    code: "REFUSED",
    shortMessage: `The contract would refuse to ${what}: ${result.message}.`,
    nextStep: "Change what the reason names, then try again.",
    details: { revert: result.name },
  });
}

/** How it went, for people. */
export function carriedLine(chainId: number, done: string, { hash, gas, valueWei }: CarriedOut): string {
  const value = valueWei === 0n ? "" : `, with ${formatAmount(valueWei)}`;
  if (gas !== undefined) return `Would be sent, with a gas limit of ${gas}${value}: ${done}`;
  if (hash === undefined) return `It was done before: ${done}`;
  return `${done}${value} (${linked(hash, transactionLink(chainId, hash))})`;
}
