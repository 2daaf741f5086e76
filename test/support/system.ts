/** A whole system for a test: a chain that makes blocks, contracts, registered models, accounts and daemons. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { type Address, type Hex, keccak256, type LocalAccount, slice } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { type Daemon, type DaemonOptions, DISHONEST_PROVER, startDaemon } from "../../cli/demo/processes.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { requireAccount, type Sender, type SigningChain } from "../../protocol/chain/sender.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import {
  LANE,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { loadProofModel, type ProofModel } from "../../prover/proof/ezkl/folder.ts";
import { registerEzkl } from "../../prover/proof/ezkl/register.ts";
import { startLocalChain } from "./anvil.ts";
import { expectInOrder } from "./audit.ts";
import { deployLocal, LOCAL_CONSTANTS, QUICK, temporaryFolder } from "./deploy.ts";
import { EventLog } from "./event-log.ts";

/** Names of the models that the repository ships. */
export const SHIPPED = [
  "sentiment",
  "sentiment-words",
  "forecast-vix",
  "forecast-btc",
  "forecast-eth",
  "forecast-hourly",
] as const;
/** Those of which every test of all takes one, and the further ones that some test names. */
export type ShippedModel = (typeof SHIPPED)[number] | "choice" | "credit" | "credit-trees";

/** Who does what, and with which of anvil's accounts. */
export const ROLES = { deployer: 0, requester: 1, prover: 2, challenger: 3, cheat: 4 } as const;

const MNEMONIC = "test test test test test test test test test test test junk";
const ACCOUNTS = 24;
/** A node of a machine that is busy estimates the largest transactions for many seconds. */
const PATIENCE_MS = 60_000;

/** An account with ether. @param index below 24; from ROLES.cheat on there are twenty for cheats */
export function systemAccount(index: number): LocalAccount {
  const known = accounts.get(index);
  if (known !== undefined) return known;
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: index });
  accounts.set(index, account);
  return account;
}
/** A key takes a tenth of a second to derive, for which a process that asks often would do nothing else. */
const accounts = new Map<number, LocalAccount>();

/** Private key of `systemAccount(index)`. */
export function keyOf(index: number): Hex {
  const key = mnemonicToAccount(MNEMONIC, { addressIndex: index }).getHdKey().privateKey;
  if (key === null) throw new RangeError(`Account ${index} has no key.`);
  return toHex(key);
}

export interface SystemOptions {
  readonly models: readonly ShippedModel[];
  /** names of shipped models without a program */
  readonly proofModels?: readonly string[];
  /** T */
  readonly answerSeconds: number;
  /** gas by which a demand's answer counts in bonds and decisions; absent: that of local tests */
  readonly gasPerDemand?: bigint;
  /** when blocks come: one a second, which is the default; one for each transaction; or when the test makes them */
  readonly blocks?: "each-second" | "on-demand" | "manual";
  /** absent: anvil's, on which nothing is at stake */
  readonly chainId?: number;
}

/** What is otherwise than usual about a daemon. */
export type DaemonChanges = Partial<Pick<DaemonOptions, "rpcUrl" | "env" | "through" | "program">>;

export interface AskOptions {
  readonly model: { readonly modelId: Hex };
  readonly calldata: Uint8Array;
  /** absent: anybody may claim */
  readonly prover?: Address;
  /** bits; absent: BOND alone */
  readonly lanes?: number;
  /** for how long the prover alone may claim, at most 600; absent: 590 */
  readonly exclusiveSeconds?: number;
}

export type System = Awaited<ReturnType<typeof startSystem>>;

/** Starts a chain; call `stop` when done. */
export async function startSystem(options: SystemOptions) {
  const {
    models: names,
    proofModels: proofNames = [],
    answerSeconds,
    gasPerDemand = LOCAL_CONSTANTS.gasPerDemand,
    blocks = "each-second",
    chainId,
  } = options;
  const local = await startLocalChain({
    accounts: ACCOUNTS,
    ...(chainId === undefined ? {} : { chainId }),
  });
  const folder = temporaryFolder();
  const closers: (() => Promise<unknown>)[] = [];
  let audit: () => Promise<unknown> = async () => undefined;
  /** Ends all processes, and audits what they did. */
  const stop = async () => {
    for (const close of closers.reverse()) await close();
    await audit().finally(local.stop);
    folder.remove();
  };
  try {
    const deployment = await deployLocal(local, { ...LOCAL_CONSTANTS, answerSeconds, gasPerDemand });
    const deploymentPath = join(folder.path, "deployment.json");
    writeDeployment(deploymentPath, deployment);
    const models = new Map(names.map((name) => [name, loadModelFolder(modelFolder(name))]));
    const modelsFolder = join(folder.path, "models");
    for (const name of [...names, ...proofNames])
      cpSync(modelFolder(name), join(modelsFolder, name), { recursive: true });
    const chainOf = async (account: LocalAccount) =>
      requireAccount(await connect({ rpcUrl: local.rpcUrl, deployment, account, timeoutMs: PATIENCE_MS }));
    const open = async (name: string, index: number) => {
      const chain = await chainOf(systemAccount(index));
      const { sender, close } = openDataFolder(join(folder.path, name), chain, [], QUICK);
      closers.push(close);
      return { chain, sender };
    };
    const requester = await open("requester", ROLES.requester);
    for (const model of models.values()) await register(requester.chain, requester.sender, model);
    const proofModels = new Map(proofNames.map((name) => [name, loadProofModel(modelFolder(name))]));
    for (const model of proofModels.values()) await registerEzkl(requester.chain, requester.sender, model);
    const interval = blocks === "each-second" ? 1 : 0;
    // A chain that mines on demand does so from its start, and an interval of none would end that.
    if (blocks !== "on-demand") {
      await local.control.setAutomine(false);
      await local.control.setIntervalMining({ interval });
    }
    audit = () => expectInOrder(requester.chain);
    const events = new EventLog(requester.chain);
    closers.push(() => events.stop());
    /** The assay program with an account's key, which works with this system's models only. */
    const daemon = (
      name: string,
      index: number,
      args: readonly string[],
      changes: DaemonChanges = {},
    ): Daemon => {
      const own = [...args, "--models", modelsFolder];
      const common = { name, folder: folder.path, rpcUrl: local.rpcUrl, deployment: deploymentPath };
      const started = startDaemon({ ...common, args: own, key: keyOf(index), ...changes });
      closers.push(() => started.stop());
      return started;
    };
    return {
      ...local,
      folder: folder.path,
      chain: requester.chain,
      events,
      /** Does this while no block comes but those that it makes. */
      withoutBlocks: async (work: () => Promise<void>): Promise<void> => {
        await local.control.setIntervalMining({ interval: 0 });
        await work().finally(() => local.control.setIntervalMining({ interval }));
      },
      chainOf,
      open,
      model: (name: ShippedModel) => models.get(name) as LoadedModel,
      models: [...models.values()],
      proofModel: (name: string) => proofModels.get(name) as ProofModel,
      ask: (options: AskOptions) => ask(requester.chain, requester.sender, options),
      daemon,
      /** A prover that lies. @param fault as its `--fault` @param args further ones */
      cheat: (name: string, index: number, fault: string, args: readonly string[] = []): Daemon =>
        daemon(name, index, ["--port", "0", "--fault", fault, ...args], { program: DISHONEST_PROVER }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function register(
  chain: SigningChain,
  sender: Sender,
  { model, commitment, selector, laneBits: lanes, manifest }: LoadedModel,
): Promise<void> {
  const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
  await registerModel(chain, sender, encodeProgram(model.program), identity);
}

/** Files a request with the shortest window. */
async function ask(
  chain: SigningChain,
  sender: Sender,
  { model, calldata, prover = ZERO_ADDRESS, lanes = LANE.BOND, exclusiveSeconds = 590 }: AskOptions,
): Promise<{ readonly request: Request; readonly requestId: RequestId }> {
  const now = Number((await chain.client.getBlock()).timestamp);
  const input = toHex(calldata);
  const request: Request = {
    requester: chain.account.address,
    modelId: model.modelId as ModelId,
    inputHash: keccak256(input),
    lanes,
    fee: 10n ** 16n,
    deliveryFee: 0n,
    minBond: 0n,
    window: 4 * chain.constants.answerSeconds,
    expiry: now + 3_600,
    exclusiveProver: prover,
    exclusiveUntil: prover === ZERO_ADDRESS ? 0 : now + exclusiveSeconds,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: BigInt(slice(keccak256(input), 0, 8)),
  };
  const result = await sender.send(new Actions(chain.game).request(request, input));
  if (result.status !== "sent") throw new Error(`The request is not on the chain: ${result.status}.`);
  return { request, requestId: requestIdOf(chain.game, request) };
}
