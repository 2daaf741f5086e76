/** `assay agent choices`: an executor contract whose choices are final outputs of a language model. */
import type { Command } from "commander";
import { type Address, encodeDeployData, getAddress } from "viem";
import { encodeChoices, parseChoiceFile } from "../../agent/executor/choice/choice-file.ts";
import { readTools } from "../../agent/executor/tool-reader.ts";
import { BaseError } from "../../base/errors.ts";
import { creationFailed, sendCreation } from "../../protocol/chain/deploy/create.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { LANE, LIMITS } from "../../protocol/rules/types.ts";
import { integer, loadConfig, type Settings, text, wei } from "../../protocol/service/config.ts";
import { ensureCompiled } from "../../tools/compile.ts";
import { loadArtifact } from "../artifacts.ts";
import { chainConfig, openChain, withChain, withSettings } from "../chain.ts";
import { readJson } from "../model/resolve.ts";
import { findModel } from "../model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "../output.ts";
import { readLanes } from "../request-terms.ts";

const SETTINGS = {
  lanes: { schema: text, default: "BOND", description: "lanes that make an output final, by commas" },
  minBond: { schema: wei, default: "0", description: "least bond of a claim" },
  minWindow: {
    schema: integer(0, LIMITS.maxWindow),
    default: 0,
    description: "least seconds in which a claim could be challenged",
  },
} as const satisfies Settings;

const NAME = "FinalChoiceExecutor";

export function addChoicesCommand(agent: Command): void {
  const command = agent
    .command("choices <model> <file>")
    .description("create an executor whose choices are final outputs of a language model; nobody owns it");
  withJson(withSettings(withChain(command), SETTINGS)).action(deploy);
}

async function deploy(name: string, path: string, _options: object, self: Command): Promise<void> {
  const {
    lanes: given,
    minBond,
    minWindow,
  } = loadConfig(SETTINGS, { flags: self.optsWithGlobals(), env: {} });
  const config = chainConfig(self);
  const file = parseChoiceFile(readJson(path), path);
  const chain = requireAccount(await openChain(config));
  const { client, account, game } = chain;
  const model = await findModel(chain, name);
  if (model.text === undefined) throw withoutText(name);
  const lanes = readLanes(given).reduce((bits, lane) => bits | LANE[lane], 0);
  if ((lanes & ~model.word.lanes) !== 0) refuseArgument("--lanes", given, "lanes of this model");
  const addresses = new Set(
    file.choices.flatMap(({ tool }) => (tool === undefined ? [] : [getAddress(tool)])),
  );
  const tools = await readTools(client, [...addresses]);
  const { terms, choices } = encodeChoices(file, model.text.tokenizer, tools);
  ensureCompiled("contracts");
  const { abi, bytecode } = loadArtifact(NAME);
  const policy = { modelId: model.modelId, lanes, minBond, minWindow };
  const data = encodeDeployData({ abi, bytecode, args: [game.assay, { ...policy, ...terms }, choices] });
  printProgress(`creating ${NAME}`);
  const { pollIntervalMs, maxFee } = config;
  const receipt = await sendCreation({ client, account, pollIntervalMs, maxFee }, game.chainId, {
    name: NAME,
    data,
  });
  if (receipt.status !== "success" || !receipt.contractAddress) {
    const nextStep = "Check that no two choices have one token or one text.";
    throw creationFailed(NAME, game.chainId, receipt, nextStep);
  }
  const executor: Address = getAddress(receipt.contractAddress);
  printResult(self, { executor, modelId: model.modelId, lanes }, [
    `The executor is at ${executor}`,
    "Name it as the only executor of a callback agent that nobody owns, with a threshold of 1",
    `Run \`assay agent executor --agents ADDRESS --final ${executor}\`: anybody may`,
  ]);
}

const withoutText = (name: string) =>
  new BaseError({
    code: "MODEL_UNSUITABLE",
    shortMessage: `${name} has no tokenizer of a language model here: choices are words, and words become ids by it.`,
    nextStep: "Name the folder of a derived language model.",
  });
