/** `assay withdraw`: takes the account's credit out of Assay, by the daemon that uses the data folder if one does. */
import type { Command } from "commander";
import { getAddress, isAddress } from "viem";
import { formatAmount } from "../base/amounts.ts";
import { isBaseError } from "../base/errors.ts";
import { Actions } from "../protocol/chain/actions.ts";
import { transactionLink } from "../protocol/chain/presets.ts";
import { withdrawTo } from "../protocol/chain/withdraw.ts";
import { askDaemon } from "../protocol/service/control.ts";
import { type ChainConfig, chainConfig, chainIdAt, withChain, withSender } from "./chain.ts";
import { linked } from "./chain-links.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";

export function addWithdrawCommand(program: Command): void {
  const command = program
    .command("withdraw")
    .description(
      "withdraw the key's credit: fees, bonds and shares; a running daemon does it for its own key",
    )
    .option("--to <address>", "who receives it; default: the key's address");
  withJson(withChain(command)).action(async (options: { to?: string }, self: Command) => {
    const { to: given } = options;
    if (given !== undefined && !isAddress(given)) refuseArgument("--to", given, "an address");
    const to = given === undefined ? undefined : getAddress(given);
    const config = chainConfig(self);
    const result = await orByDaemon(config, "withdraw", to === undefined ? {} : { to }, () =>
      withSender(config, (chain, sender) =>
        withdrawTo({ chain, sender, actions: new Actions(chain.game) }, to ?? chain.account.address),
      ),
    );
    const amount = BigInt(String(result.amountWei));
    if (amount === 0n) return printResult(self, result, ["There is no credit to withdraw."]);
    const hash = String(result.hash);
    const link = transactionLink(await chainIdAt(config), hash);
    printResult(self, result, [`${formatAmount(amount)} went to ${result.to} (${linked(hash, link)})`]);
  });
}

/** Does something with the data folder, or has the daemon do it that uses it.
 *  @throws BaseError DATA_FOLDER_BUSY where a process uses it that takes no commands; what `work` and the daemon throw */
export async function orByDaemon<T extends object>(
  { data }: ChainConfig,
  command: string,
  args: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
): Promise<T | Readonly<Record<string, unknown>>> {
  try {
    return await work();
  } catch (error) {
    const answered = isBaseError(error, "DATA_FOLDER_BUSY")
      ? await askDaemon(data, command, args)
      : undefined;
    if (answered === undefined) throw error;
    return answered;
  }
}
