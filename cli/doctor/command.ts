/** `assay doctor`: looks at everything that a daemon needs, and says what to do. */
import type { Command } from "commander";
import type { LocalAccount } from "viem";
import { loadAccount } from "../../protocol/chain/account.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { rpcUrlsOf } from "../../protocol/chain/quorum/urls.ts";
import { CHAIN_SETTINGS, loadConfig, type Section, type Settings } from "../../protocol/service/config.ts";
import { type ChainConfig, openChainAs, withChain, withSettings } from "../chain.ts";
import { CHALLENGER_SETTINGS } from "../challenger/machine.ts";
import { MODELS_SETTING } from "../daemon.ts";
import { EXIT, printResult, withJson } from "../output.ts";
import { PROVER_SETTINGS } from "../prover.ts";
import { checkContracts, checkNode } from "./chain.ts";
import { checkCode } from "./code.ts";
import { type Finding, found, inTime, ok, warn } from "./finding.ts";
import { checkBalance, checkBalanceAlone, checkKey } from "./key.ts";
import { checkData, checkModels } from "./machine.ts";

const MARKS = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const;

export function addDoctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .description("check configuration, node, contracts, key, models, clock and disk, and say what to do");
  withJson(withSettings(withChain(command), { models: MODELS_SETTING })).action(
    async (_options: object, self: Command) => {
      const findings = await examine(self.optsWithGlobals());
      const isWell = findings.every(({ status }) => status !== "fail");
      printResult(self, { isWell, findings }, findings.flatMap(describe));
      if (!isWell) process.exitCode = EXIT.finding;
    },
  );
}

type Flags = Readonly<Record<string, unknown>>;

/** A fault of one thing hides no other: what can be looked at without it is. */
async function examine(flags: Flags): Promise<Finding[]> {
  let config: ChainConfig | undefined;
  let models = flags.models;
  const findings = await found("configuration", () => {
    config = loadConfig(CHAIN_SETTINGS, { flags, env: process.env });
    return [ok("configuration", "the common part can be read")];
  });
  const sections = await found("configuration", () => {
    models ??= sectionOf(PROVER_SETTINGS, "prover", flags).models;
    sectionOf(CHALLENGER_SETTINGS, "challenger", flags);
    return [ok("configuration", "the parts of prover and challenger can be read")];
  });
  // A file that cannot be read is the fault of both.
  findings.push(...sections.filter(({ text }) => findings.every((other) => other.text !== text)));
  if (config === undefined) return [...findings, UNSEEN];
  return [...findings, ...(await examineSystem(config, String(models ?? MODELS_SETTING.default)))];
}

const UNSEEN = warn(
  "configuration",
  "node, contracts, key, models and data are not looked at: the common part says where they are",
  "Correct the configuration and run `assay doctor` again.",
);

const UNASKED = warn(
  "contracts",
  "contracts, balance and registrations are not looked at: the node gives no answer",
  "See whether the node runs and --rpc-url names it, then run `assay doctor` again.",
);

async function examineSystem(config: ChainConfig, models: string): Promise<Finding[]> {
  let account: LocalAccount | undefined;
  let chain: Chain | undefined;
  const key = await inTime("key", "the key and who signs with it", () => {
    account = loadAccount(config, process.env);
    return checkKey(account, config);
  });
  const nodes = rpcUrlsOf(config.rpcUrl).map((url) => inTime("node", url, () => checkNode(url)));
  const node = (await Promise.all(nodes)).flat();
  const silent = node.filter(({ subject, status }) => subject === "node" && status === "fail");
  const isSilent = silent.length === nodes.length;
  const contracts = isSilent
    ? [UNASKED]
    : await inTime("contracts", `the contracts by ${config.rpcUrl}`, async () => {
        chain = await openChainAs(config, account);
        return checkContracts(chain);
      });
  const [connected, holder] = [chain, account];
  const code =
    connected === undefined
      ? []
      : await inTime("code", `the contracts' code by ${config.rpcUrl}`, () => checkCode(connected));
  const balance =
    holder === undefined
      ? []
      : await inTime("balance", `the balance by ${config.rpcUrl}`, () =>
          connected === undefined
            ? checkBalanceAlone(config, holder.address)
            : checkBalance(connected, holder.address),
        );
  const owner = {
    ...(connected && {
      chainId: connected.game.chainId,
      assay: connected.game.assay,
      blockHash: connected.deployment.block.hash,
    }),
    ...(holder && { account: holder.address }),
  };
  return [
    ...node,
    ...contracts,
    ...code,
    ...key,
    ...balance,
    ...(await inTime("models", `the models in ${models}`, () => checkModels(models, connected))),
    ...(await found("data", () => checkData(config.data, owner))),
  ];
}

/** Only --config is of every section: other flags are one command's. */
const sectionOf = <S extends Settings>(settings: S, name: Section, { config }: Flags) =>
  loadConfig(settings, { flags: { config }, env: process.env }, name);

function describe({ subject, status, text, nextStep }: Finding): string[] {
  const line = `${MARKS[status]}  ${subject.padEnd(14)} ${text}`;
  return nextStep === undefined ? [line] : [line, `      ${"".padEnd(14)} → ${nextStep}`];
}
