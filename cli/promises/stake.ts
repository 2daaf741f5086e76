/** `assay stake`: what a prover keeps behind its promises, who signs for it, and its way out. */
import type { Command } from "commander";
import { type Address, pad } from "viem";
import { formatAmount, parseAmount } from "../../base/amounts.ts";
import { iso } from "../../protocol/chain/describe.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { stakeOf } from "../../protocol/rules/promises/state.ts";
import { chainConfig, chainIdAt, openChain, withChain } from "../chain.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { actionsOn, addressArgument, carriedLine, carryOut, occasionOf, withDryRun } from "./carry-out.ts";

const DAY = 86_400;
/** For which a key is bound where nothing else is said. */
const DEFAULT_DAYS = 30;
const MAX_DAYS = 3_650;

const amountOf = (name: string, text: string): bigint =>
  parseAmount(text) ?? refuseArgument(name, text, 'an amount such as "0.5 ether" or wei');

export function addStakeCommands(program: Command): void {
  const stake = program
    .command("stake")
    .description("the stake behind a prover's promises: put in, take out, who signs");
  addShow(stake);
  addDeposit(stake);
  addExit(stake);
  addSigner(stake);
  addWithdraw(stake);
}

function addShow(stake: Command): void {
  const command = stake
    .command("show")
    .description("stake, queue, keys and credit of a prover")
    .option("--prover <address>", "whose; default: the key's address");
  withJson(withChain(command)).action(async (options: { prover?: string }, self: Command) => {
    const given = options.prover === undefined ? undefined : addressArgument("--prover", options.prover);
    const chain = await openChain(chainConfig(self));
    const prover = given ?? requireAccount(chain).account.address;
    const reader = new PromiseStateReader(chain);
    const [account, credit, events] = await Promise.all([
      reader.account(prover),
      reader.credit(prover),
      promiseHistory(chain, pad(prover)),
    ]);
    const keys = new Map<Address, number>();
    for (const event of events) {
      if (event.name === "SignerSet" && event.args.prover === prover)
        keys.set(event.args.key, event.args.until);
    }
    const { free, leaving, exitAt, away, slots, head } = account;
    const amounts = { freeWei: free, leavingWei: leaving, awayWei: away, slotsWei: slots };
    const stakeWei = stakeOf(account);
    const result = {
      ...{ prover, stakeWei, ...amounts, creditWei: credit },
      ...(leaving === 0n ? {} : { exitAt: iso(exitAt) }),
      ...(head === undefined ? {} : { queueHead: head }),
      keys: [...keys].map(([key, until]) => ({ key, until: iso(until) })),
    };
    printResult(self, result, [
      `Stake of ${prover}: ${formatAmount(stakeWei)}`,
      `  free     ${formatAmount(free)}`,
      `  leaving  ${formatAmount(leaving)}${leaving === 0n ? "" : `, from ${iso(exitAt)} on`}`,
      `  away     ${formatAmount(away)} in claims`,
      `  slots    ${formatAmount(slots)} of batches`,
      `  queue    ${head === undefined ? "empty" : `begins with ${head}`}`,
      ...[...keys].map(([key, until]) => `  key      ${key} until ${iso(until)}`),
      `Credit: ${formatAmount(credit)}`,
    ]);
  });
}

function addDeposit(stake: Command): void {
  const command = stake
    .command("deposit")
    .description("put stake behind a prover's promises")
    .argument("<amount>", 'wei, or with a unit: "0.5 ether"')
    .option("--prover <address>", "whose; default: the key's address");
  withJson(withDryRun(withChain(command))).action(
    async (text: string, options: { prover?: string; dryRun?: boolean }, self: Command) => {
      const amount = amountOf("amount", text);
      if (amount === 0n) refuseArgument("amount", text, "more than 0");
      const prover = options.prover === undefined ? undefined : addressArgument("--prover", options.prover);
      const config = chainConfig(self);
      const result = await carryOut(config, options.dryRun === true, "deposit stake", async (chain) =>
        actionsOn(chain).deposit(prover ?? chain.account.address, amount, await occasionOf(chain)),
      );
      printResult(self, result, [carriedLine(await chainIdAt(config), "Stake was deposited", result)]);
    },
  );
}

function addExit(stake: Command): void {
  const command = stake
    .command("exit")
    .description("announce that an amount leaves, or without one take out what has left its notice behind")
    .argument("[amount]", "of free stake; it can be taken out in eight days")
    .option("--to <address>", "who receives what is taken out; default: the key's address");
  withJson(withDryRun(withChain(command))).action(
    async (text: string | undefined, options: { to?: string; dryRun?: boolean }, self: Command) => {
      const amount = text === undefined ? undefined : amountOf("amount", text);
      const to = options.to === undefined ? undefined : addressArgument("--to", options.to);
      if (amount !== undefined && to !== undefined)
        refuseArgument("--to", options.to, "left out with an amount: what leaves is taken out later");
      const config = chainConfig(self);
      const what = amount === undefined ? "take out stake" : "announce an exit";
      const result = await carryOut(config, options.dryRun === true, what, async (chain) => {
        const occasion = await occasionOf(chain);
        if (amount !== undefined) return actionsOn(chain).announceExit(amount, occasion);
        return actionsOn(chain).exit(to ?? chain.account.address, occasion);
      });
      const done =
        amount === undefined ? "Stake was taken out" : `${formatAmount(amount)} leave in eight days`;
      printResult(self, result, [carriedLine(await chainIdAt(config), done, result)]);
    },
  );
}

function addSigner(stake: Command): void {
  const command = stake
    .command("signer")
    .description("bind the prover to what a key signs, until a time; 0 days unbind it as soon as that goes")
    .argument("<key>", "address of the key")
    .option("--days <number>", `for how long (default ${DEFAULT_DAYS})`);
  withJson(withDryRun(withChain(command))).action(
    async (text: string, options: { days?: string; dryRun?: boolean }, self: Command) => {
      const key = addressArgument("key", text);
      const days = options.days === undefined ? DEFAULT_DAYS : Number(options.days);
      if (!/^\d{1,4}$/.test(options.days ?? "1") || days > MAX_DAYS)
        refuseArgument("--days", options.days, `a whole number from 0 to ${MAX_DAYS}`);
      const config = chainConfig(self);
      let until = 0;
      const result = await carryOut(config, options.dryRun === true, "set a signer", async (chain) => {
        const { timestamp } = await chain.client.getBlock();
        // What it signed until now is read for T still, and the transaction takes some blocks.
        until = Number(timestamp) + Math.max(days * DAY, 2 * chain.constants.answerSeconds);
        return actionsOn(chain).setSigner(key, until);
      });
      const done = `What ${key} signs until ${iso(until)} binds this prover`;
      printResult(self, { ...result, key, until: iso(until) }, [
        carriedLine(await chainIdAt(config), done, result),
      ]);
    },
  );
}

function addWithdraw(stake: Command): void {
  const command = stake
    .command("withdraw")
    .description("withdraw the key's credit in Promises: deposits on promises that fell")
    .option("--to <address>", "who receives it; default: the key's address");
  withJson(withDryRun(withChain(command))).action(
    async (options: { to?: string; dryRun?: boolean }, self: Command) => {
      const to = options.to === undefined ? undefined : addressArgument("--to", options.to);
      const config = chainConfig(self);
      const result = await carryOut(config, options.dryRun === true, "withdraw", async (chain) =>
        actionsOn(chain).withdraw(to ?? chain.account.address, await occasionOf(chain)),
      );
      printResult(self, result, [carriedLine(await chainIdAt(config), "The credit was withdrawn", result)]);
    },
  );
}
