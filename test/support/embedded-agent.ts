/** An agent whose model is scripted, with a tool that pays out tokens; on a development chain, or on anvil. */
import {
  type Abi,
  type Address,
  createWalletClient,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  http,
  parseAbi,
  toFunctionSelector,
} from "viem";
import { BLOCK_GAS } from "../../agent/devchain/genesis.ts";
import { type RunningDevChain, startDevChain } from "../../agent/devchain/main.ts";
import { PRECOMPILE } from "../../agent/devchain/precompile.ts";
import { createModelRegistry, type ModelRegistry } from "../../agent/executor/models/language-model.ts";
import { OpenAiModel } from "../../agent/executor/models/openai.ts";
import { SILENT } from "../../base/log.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { createClient } from "../../protocol/chain/connect.ts";
import { accountAt } from "./anvil.ts";
import type { Script } from "./scripted-llm.ts";

export const MODEL = "scripted";
export const SUPPLY = 100n;
const TOKEN = parseAbi(["function balanceOf(address) view returns (uint256)"]);

/** What the model writes to have tokens paid. */
export const pay = (to: Address, amount: bigint): string =>
  `they are owed that\nAction: PayTool\nAction Input: ${JSON.stringify([
    { name: "to", value: to },
    { name: "amount", value: `${amount}` },
  ])}`;

/** What the model writes to end a run. */
export const finalAnswer = (answer: string): string => `I now know the final answer\nFinal Answer: ${answer}`;

/** What the model does at each iteration of a run. */
export const stepsOf =
  (...replies: string[]): Script =>
  ({ prompt }) =>
    replies[(prompt.split("Begin!")[1] ?? "").split("\nObservation:").length - 1] ?? "";

/** The agent's model, behind an endpoint. @param llm its URL */
export function scriptedModels(llm: string): ModelRegistry {
  const options = { apiKey: undefined, temperature: 0, maxTokens: 8_192, timeoutMs: 60_000 };
  return createModelRegistry().register(MODEL, new OpenAiModel({ baseUrl: llm, model: "m", ...options }));
}

/** Starts a chain in this process. @param llm URL of the endpoint @param file where blocks are kept */
export function startEmbedded(llm: string, file?: string): Promise<RunningDevChain> {
  const models = scriptedModels(llm);
  const accounts = [accountAt(0).address];
  const kept = file === undefined ? {} : { file };
  return startDevChain({ chainId: 31_338, accounts, models, tries: 2, port: 0, log: SILENT, ...kept });
}

export type EmbeddedAgent = Awaited<ReturnType<typeof deployEmbedded>>;

/** Deploys executor, token, tool and agent. */
export async function deployEmbedded(url: string, precompile: Address = PRECOMPILE) {
  const client = createClient(url, 60_000);
  const account = accountAt(0);
  const wallet = createWalletClient({ account, transport: http(url, { timeout: 60_000 }) });
  const mined = async (hash: Hex) => client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  const deploy = async (name: string, args: readonly unknown[]): Promise<Address> => {
    const { abi, bytecode } = loadArtifact(name);
    const hash = await wallet.deployContract({ abi: abi as Abi, bytecode, args, chain: null });
    return (await mined(hash)).contractAddress as Address;
  };
  const executor = await deploy("EmbeddedExecutor", [precompile]);
  const nonce = await client.getTransactionCount({ address: account.address });
  const toolAddress = getContractAddress({ from: account.address, nonce: BigInt(nonce + 1) });
  const token = await deploy("LocalToken", ["Token", "TOK", toolAddress, SUPPLY]);
  const tool = await deploy("SimpleSmartContractTool", [
    "PayTool",
    "Pays tokens out.",
    token,
    toFunctionSelector("transfer(address,uint256)"),
    {
      paramDescriptions: [
        { paramType: 1, name: "to", description: "who receives" },
        { paramType: 4, name: "amount", description: "how much" },
      ],
    },
    true,
    "Paid",
    `0x${"00".repeat(20)}`,
  ]);
  const texts = ["Payer", "Pays as it is told", "whom to pay", "You pay tokens out."];
  const agent = await deploy("OwnedAgent", [account.address, executor, MODEL, ...texts, [tool], 4]);
  const { abi } = loadArtifact("OwnedAgent");
  const call = (prompt: string) => {
    const value = encodeAbiParameters([{ type: "string" }], [prompt]);
    const input = { params: [{ paramType: 0, value }], abiEncodedParams: value };
    const args = [input, `0x${"00".repeat(20)}`] as const;
    return { address: agent, abi: abi as Abi, functionName: "run", args, account } as const;
  };
  return {
    client,
    agent,
    executor,
    tool,
    token,
    /** Answers of a simulation, nothing kept. */
    simulate: async (prompt: string) => (await client.simulateContract(call(prompt))).result,
    /** @param gas "estimated" fails where the run does */
    run: async (prompt: string, gas: bigint | "estimated" = BLOCK_GAS) => {
      const limit = gas === "estimated" ? {} : { gas };
      return mined(await wallet.writeContract({ ...call(prompt), chain: null, ...limit }));
    },
    balanceOf: (address: Address) =>
      client.readContract({ address: token, abi: TOKEN, functionName: "balanceOf", args: [address] }),
  };
}
