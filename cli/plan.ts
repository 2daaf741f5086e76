/** `assay plan`: what each lane would cost for a model, before anything is spent. */
import type { Command } from "commander";
import { AMOUNT_FORM, formatAmount, parseAmount } from "../base/amounts.ts";
import { NO_DATA_FEE } from "../protocol/chain/data-fee.ts";
import { MAX_TRANSACTION_GAS } from "../protocol/chain/execution/cost.ts";
import { ASSUMED, plan } from "../protocol/chain/plan/plan.ts";
import { presetOf, transactionGasOn } from "../protocol/chain/presets.ts";
import gas from "../protocol/rules/generated/gas.json" with { type: "json" };
import type { GameConstants } from "../protocol/rules/types.ts";
import { chainConfig, openChain, withChain, withSettings } from "./chain.ts";
import { EZKL_SETTINGS, ezklOptionsOf } from "./ezkl-options.ts";
import { modelFolder } from "./model-source.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";
import { planSubject } from "./plan-subject.ts";
import { planLines } from "./plan-table.ts";
import { KEY_FOLDER } from "./proof/setup.ts";

interface Options {
  readonly gasPrice?: string;
  readonly value: string;
  readonly window?: string;
  readonly keys: string;
  readonly offline?: boolean;
}

/** What is assumed where no chain is asked. */
const OFFLINE: GameConstants = {
  answerSeconds: 3_600,
  gasPriceFloor: 10n ** 9n,
  gasBase: BigInt(gas.gasBase),
  gasPerDemand: BigInt(gas.gasPerDemand),
};

export function addPlanCommand(program: Command): void {
  const command = program
    .command("plan")
    .description("estimate what a result of a model costs in each lane, and pick one")
    .argument("<model>", "name or folder of a model")
    .option(
      "--value <amount>",
      "what the consumer has at stake, such as 1ether: a bond must outweigh it",
      "0",
    )
    .option("--gas-price <amount>", "of a unit of gas (default: the chain's, offline 1 gwei)")
    .option("--window <seconds>", "in which a claim can be challenged (default 4T)")
    .option("--keys <dir>", "folder of proving keys", KEY_FOLDER)
    .option("--offline", "ask no chain: nothing is published, T is an hour");
  withSettings(withJson(withChain(command)), { ezkl: EZKL_SETTINGS.ezkl });
  command.action(async (name: string, options: Options, self: Command) => {
    const chain = options.offline === true ? undefined : await openChain(chainConfig(self));
    const folders = { keys: options.keys, ezkl: ezklOptionsOf(self).folder };
    const { modelId, notes, ...subject } = await planSubject(modelFolder(name), chain, folders);
    const constants = chain?.constants ?? OFFLINE;
    const gasPrice =
      options.gasPrice === undefined
        ? ((await chain?.client.getGasPrice()) ?? 10n ** 9n)
        : weiOf("--gas-price", options.gasPrice);
    const window = secondsOf(options.window) ?? ASSUMED.windowAnswers * constants.answerSeconds;
    const dataFee = (await chain?.dataFee.read()) ?? NO_DATA_FEE;
    const made = plan({
      ...subject,
      dataFee,
      constants,
      gasPrice,
      value: weiOf("--value", options.value),
      window,
      blockSeconds: (chain && presetOf(chain.game.chainId)?.blockSeconds) ?? ASSUMED.blockSeconds,
      transactionGas: BigInt(chain ? transactionGasOn(chain.game.chainId) : MAX_TRANSACTION_GAS),
      capitalPercent: ASSUMED.capitalPercent,
    });
    printResult(
      self,
      { name, modelId, gasPriceWei: gasPrice, windowSeconds: window, dataFee, ...made, notes },
      [
        `${name} at ${formatAmount(gasPrice)} a unit of gas, window ${window.toLocaleString("en-US")} s`,
        ...planLines(made),
        ...notes,
      ],
    );
  });
}

function weiOf(flag: string, text: string): bigint {
  return parseAmount(text) ?? refuseArgument(flag, text, AMOUNT_FORM.replace(/^must be /, ""));
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,8}$/.test(text) || Number(text) < 1)
    refuseArgument("--window", text, "a number of seconds above 0");
  return Number(text);
}
