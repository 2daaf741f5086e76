/** A local chain for measurements: the same bytes, times and addresses at each run. */
import {
  type Account,
  createWalletClient,
  custom,
  type LocalAccount,
  type TransactionReceipt,
  type Transport,
  type Chain as ViemChain,
  type WalletClient,
} from "viem";
import { loadArtifacts } from "../cli/artifacts.ts";
import { commitModel } from "../inference/commit/commitments.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import type { Model } from "../inference/program/form.ts";
import { type Action, Actions } from "../protocol/chain/actions.ts";
import { type Chain, connect } from "../protocol/chain/connect.ts";
import { deploySystem } from "../protocol/chain/deploy.ts";
import { decodeRevert } from "../protocol/chain/errors.ts";
import { type ChainEvent, decodeEvents, type EventName, type EventOf } from "../protocol/chain/events.ts";
import { registerModel } from "../protocol/chain/register.ts";
import { requireAccount, type Sender } from "../protocol/chain/sender.ts";
import { type GameConstants, LANE, type ModelId } from "../protocol/rules/types.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { accountAt, startLocalChain } from "../test/support/anvil.ts";
import { temporaryFolder } from "../test/support/deploy.ts";

/** Gas constants only set bonds: no move's gas depends on them. */
const CONSTANTS: GameConstants = {
  answerSeconds: 600,
  gasPriceFloor: 10n ** 9n,
  gasBase: 100_000n,
  gasPerDemand: 100_000n,
};
/** Ids hash times, and a zero byte of calldata costs less than another: so times are fixed too. */
const FIRST_SECOND = 2_000_000_000n;
/** Just under a transaction's limit (EIP-7825). */
const GAS_LIMIT = 16_000_000n;
export const SELECTOR = Uint8Array.of(0xa5, 0x5a, 0xc3, 0x3c);

export interface Mined {
  readonly receipt: TransactionReceipt;
  readonly events: readonly ChainEvent[];
}

export type BenchChain = Awaited<ReturnType<typeof openBenchChain>>;

/** Starts anvil and deploys; call `close` when done. A block for each transaction.
 *  @param hardfork cancun: calldata without the floor of EIP-7623 */
export async function openBenchChain(hardfork: "cancun" | "prague" = "prague") {
  const local = await startLocalChain({ hardfork });
  try {
    await local.control.setBlockTimestampInterval({ interval: 1 });
    await local.control.setNextBlockTimestamp({ timestamp: FIRST_SECOND });
    const [artifacts, account] = [loadArtifacts(), accountAt(0)];
    const options = { client: local.client, account, artifacts, constants: CONSTANTS, pollIntervalMs: 10 };
    const deployment = await deploySystem(options);
    const chain = await connect({ rpcUrl: local.rpcUrl, deployment, account });
    return {
      ...local,
      chain,
      actions: new Actions(chain.game),
      send: (from: LocalAccount, action: Action) => send(chain, from, action),
      register: (model: Model, lanes?: number, vkHash?: Uint8Array) => register(chain, model, lanes, vkHash),
      withSender: <T>(work: (sender: Sender) => Promise<T>) => withSender(chain, work),
      close: () => local.stop(),
    };
  } catch (error) {
    await local.stop();
    throw error;
  }
}

/** One whole transaction. @throws Error when it reverts: what is measured then is no move */
async function send(chain: Chain, account: LocalAccount, action: Action): Promise<Mined> {
  const { client } = chain;
  const wallet: WalletClient<Transport, ViemChain | undefined, Account> = createWalletClient({
    account,
    transport: custom(client),
  });
  const { to, data, value } = action;
  const hash = await wallet.sendTransaction({ chain: null, to, data, value, gas: GAS_LIMIT });
  const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  if (receipt.status === "success") return { receipt, events: decodeEvents(receipt.logs) };
  const why = await client
    .call({ account, to, data, value, blockNumber: receipt.blockNumber - 1n })
    .then(() => undefined, decodeRevert);
  throw new Error(`${action.key} reverted: ${why?.message ?? "not any more when it is repeated"}.`);
}

/** Registers a model of raw calldata with the selector of all measurements. */
async function register(
  chain: Chain,
  model: Model,
  lanes: number = LANE.BOND,
  vkHash: Uint8Array = new Uint8Array(32),
): Promise<ModelId> {
  const identity = { ...commitModel(model), selector: SELECTOR, lanes, vkHash };
  const program = encodeProgram(model.program);
  return withSender(chain, async (sender) => (await registerModel(chain, sender, program, identity)).modelId);
}

/** Gives the deployer's sender, with a journal that is removed afterwards. */
async function withSender<T>(chain: Chain, work: (sender: Sender) => Promise<T>): Promise<T> {
  const folder = temporaryFolder();
  const { sender, close } = openDataFolder(folder.path, requireAccount(chain), [], { pollIntervalMs: 10 });
  try {
    return await work(sender);
  } finally {
    await close();
    folder.remove();
  }
}

/** The one event of this name that a transaction emitted. */
export function eventOf<Name extends EventName>({ events }: Mined, name: Name): EventOf<Name>["args"] {
  const event = events.find((one) => one.name === name);
  if (event === undefined) throw new Error(`The transaction emitted no ${name}.`);
  return event.args as EventOf<Name>["args"];
}
