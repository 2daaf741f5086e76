/** A callback agent with one verified tool, the sentiment of a text, and a client that asks it. */
import {
  type Abi,
  type Address,
  createWalletClient,
  encodeAbiParameters,
  type Hex,
  http,
  isAddressEqual,
  type LocalAccount,
  parseEventLogs,
} from "viem";
import type { SigningChain } from "../../protocol/chain/sender.ts";
import {
  agentClientAbi,
  callbackAgentAbi,
  claimedModelToolAbi,
  iCallbackAgentAbi,
} from "../../protocol/rules/generated/abis.ts";
import { LANE, type ModelId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { loadArtifact } from "../artifacts.ts";

export const SENTIMENT_TOOL = "SentimentTool";
export const AGENT_PROMPT =
  "You are an agent that judges the mood of the market from headlines. Use SentimentTool with the headline, then answer with its result.";

export interface CallbackAgentOptions {
  /** sentiment model, registered */
  readonly modelId: ModelId;
  /** language model, as the executors name it */
  readonly llm: string;
  /** of the agent, which may need to know its tool */
  readonly executors: readonly Address[] | ((tool: Address) => Promise<readonly Address[]>);
  readonly threshold: number;
  /** before more executors are asked */
  readonly iterationSeconds: number;
  /** whether the chain's account may name other executors; default true */
  readonly isOwned?: boolean;
}

/** Without a second try: a transaction that a slow node took would be refused as known. */
const patient = (rpcUrl: string) => http(rpcUrl, { timeout: 120_000, retryCount: 0 });

/** Most iterations of a run. */
const ITERATIONS = 4;
const TOOL_SECONDS = 36_000;
const FEE = 10n ** 16n;
const HANDLER_GAS = 400_000;
/** Gas of a delivery to the tool and on to the agent, and wei for each unit of it. */
const DELIVERY_GAS = 1_500_000n;
const DELIVERY_PRICE = 5n * 10n ** 9n;

export class CallbackDemo {
  readonly #chain: SigningChain;
  readonly #rpcUrl: string;
  readonly agent: Address;
  readonly tool: Address;
  readonly client: Address;

  private constructor(
    chain: SigningChain,
    rpcUrl: string,
    [tool, agent, client]: readonly [Address, Address, Address],
  ) {
    this.#chain = chain;
    this.#rpcUrl = rpcUrl;
    this.tool = tool;
    this.agent = agent;
    this.client = client;
  }

  /** Deploys converter, tool, agent and client from the chain's account. */
  static async deploy(
    chain: SigningChain,
    rpcUrl: string,
    { modelId, llm, executors, threshold, iterationSeconds, isOwned = true }: CallbackAgentOptions,
  ): Promise<CallbackDemo> {
    const { assay } = chain.deployment.contracts;
    const { address: owner } = chain.account;
    const converter = await create(chain, rpcUrl, "SentimentResultConverter", []);
    const fee = FEE + DELIVERY_PRICE * DELIVERY_GAS;
    const tool = await create(chain, rpcUrl, "ClaimedModelTool", [
      {
        name: SENTIMENT_TOOL,
        description: "Says whether a financial headline is bearish, neutral or bullish.",
        paramNames: ["text"],
        paramDescriptions: ["the headline"],
      },
      assay,
      modelId,
      converter,
      {
        lanes: LANE.BOND,
        fee: FEE,
        deliveryFee: fee - FEE,
        minBond: 0n,
        window: 4 * chain.constants.answerSeconds,
        expirySeconds: 3_600,
        handlerGas: HANDLER_GAS,
      },
    ]);
    const asked = typeof executors === "function" ? await executors(tool) : executors;
    const agent = await create(chain, rpcUrl, "CallbackAgent", [
      llm,
      "MarketMoodAgent",
      "Judges the mood of the market from a headline.",
      "what to judge",
      AGENT_PROMPT,
      [tool],
      ITERATIONS,
      {
        owner: isOwned ? owner : ZERO_ADDRESS,
        confirmer: ZERO_ADDRESS,
        executors: asked,
        threshold,
        iterationSeconds,
        toolSeconds: TOOL_SECONDS,
        confirmSeconds: TOOL_SECONDS,
        toolGas: 1_500_000,
        callbackGas: 300_000,
        iterationFee: 10n ** 14n,
        toolBudget: fee * BigInt(ITERATIONS),
      },
    ]);
    const client = await create(chain, rpcUrl, "AgentClient", [owner]);
    return new CallbackDemo(chain, rpcUrl, [tool, agent, client]);
  }

  /** Pays for a run and begins it.
   *  @returns its id */
  async ask(question: string): Promise<bigint> {
    const { client, account } = this.#chain;
    const contract = { address: this.agent, abi: callbackAgentAbi } as const;
    const price = await client.readContract({ ...contract, functionName: "price" });
    const value = encodeAbiParameters([{ type: "string" }], [question]);
    const input = { params: [{ paramType: 0, value }], abiEncodedParams: value };
    const wallet = createWalletClient({ account, transport: patient(this.#rpcUrl) });
    const hash = await wallet.writeContract({
      address: this.client,
      abi: agentClientAbi,
      functionName: "ask",
      args: [this.agent, input],
      value: price,
      chain: null,
    });
    const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 100 });
    const [started] = parseEventLogs({ abi: iCallbackAgentAbi, logs: receipt.logs, eventName: "RunStarted" });
    if (started === undefined) throw new RangeError(`the question was refused in ${hash}`);
    return started.args.runId;
  }

  /** The answer as the client received it; undefined before that. */
  async answer(runId: bigint): Promise<string | undefined> {
    const contract = { address: this.client, abi: agentClientAbi, args: [this.agent, runId] } as const;
    const { client } = this.#chain;
    const status = await client.readContract({ ...contract, functionName: "statusOf" });
    if (status !== 2) return undefined;
    return client.readContract({ ...contract, functionName: "resultOf" });
  }

  /** Everything that happened in a run, and to the tool in any run, in order. */
  async events(runId: bigint) {
    const logs = await this.#chain.client.getLogs({ address: [this.agent, this.tool], fromBlock: 0n });
    const parsed = parseEventLogs({ abi: [...iCallbackAgentAbi, ...claimedModelToolAbi], logs });
    const isOther = ({ address, args }: (typeof parsed)[number]): boolean =>
      isAddressEqual(address, this.agent) && "runId" in args && args.runId !== runId;
    return parsed.filter((log) => !isOther(log));
  }

  runOf(runId: bigint) {
    return this.#chain.client.readContract({
      address: this.agent,
      abi: iCallbackAgentAbi,
      functionName: "runOf",
      args: [runId],
    });
  }
}

/** A contract of this project, from the chain's account. */
export async function create(
  chain: SigningChain,
  rpcUrl: string,
  name: string,
  args: readonly unknown[],
): Promise<Address> {
  const { abi, bytecode } = loadArtifact(name);
  const wallet = createWalletClient({ account: chain.account as LocalAccount, transport: patient(rpcUrl) });
  const hash: Hex = await wallet.deployContract({ abi: abi as Abi, bytecode, args, chain: null });
  const receipt = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 100 });
  return receipt.contractAddress as Address;
}
