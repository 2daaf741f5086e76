/** `assay withdraw`: takes the account's credit out of Assay. */
import type { Command } from "commander";
import { type Address, formatEther, getAddress, isAddress } from "viem";
import { Actions } from "../protocol/chain/actions.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { chainConfig, withChain, withSender } from "./chain.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";
import { requireSent } from "./sent.ts";

export function addWithdrawCommand(program: Command): void {
  const command = program
    .command("withdraw")
    .description("withdraw the key's credit: fees, bonds and shares")
    .option("--to <address>", "who receives it; default: the key's address");
  withJson(withChain(command)).action(async (options: { to?: string }, self: Command) => {
    const { to: given } = options;
    if (given !== undefined && !isAddress(given)) refuseArgument("--to", given, "an address");
    const result = await withSender(chainConfig(self), async (chain, sender) => {
      const { address } = chain.account;
      const to: Address = given === undefined ? address : getAddress(given);
      const amount = await new StateReader(chain).credits(address);
      if (amount === 0n) return { amount, to };
      // A new credit is a new occasion; the same one is withdrawn once.
      const head = await chain.client.getBlockNumber();
      const inclusion = requireSent(
        "withdraw",
        await sender.send(new Actions(chain.game).withdraw(to, `${amount}@${head}`)),
      );
      return { amount, to, hash: inclusion?.hash };
    });
    const line =
      result.amount === 0n
        ? "There is no credit to withdraw."
        : `${formatEther(result.amount)} ether went to ${result.to} (${result.hash ?? "by another sender"})`;
    printResult(self, result, [line]);
  });
}
