/** Agents that decide and act in one transaction: the policy model runs on chain and chooses the tools. */
import {
  type AbiFunction,
  encodeAbiParameters,
  getAbiItem,
  type Hex,
  parseEther,
  parseEventLogs,
  type TransactionReceipt,
  toFunctionSelector,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadArtifact } from "../../cli/artifacts.ts";
import { ContractSender, revertReason } from "../../cli/demo/contracts.ts";
import { onChainModel, publishModels } from "../../cli/demo/models.ts";
import { type Day, deployTrading, TRADING_MODELS, type Trading } from "../../cli/demo/trading.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { requireAccount, type SigningChain } from "../../protocol/chain/sender.ts";
import { iercAgentExecutorAbi } from "../../protocol/rules/generated/abis.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { deployLocal, QUICK, temporaryFolder } from "../support/deploy.ts";
import injections from "../vectors/prompt-injections.json" with { type: "json" };

let local: LocalChain;
let folder: ReturnType<typeof temporaryFolder>;
let chain: SigningChain;
let contracts: ContractSender;
let models: ReadonlyMap<string, LoadedModel>;
let trading: Trading;
let wallet: { readonly agent: Hex; readonly pool: Hex };
const owner = accountAt(0);

const GOOD = "Synaptics stock price target raised to $76 from $60 at Susquehanna";
const BAD = "MPLX cut at Credit Suisse on potential dilution from Marathon strategic review";
const DULL = "Alibaba Guides Pricing on Hong Kong Listing Around HK$176";
const ERRORS = [
  "OwnedAgent",
  "SimpleSmartContractTool",
  "PolicyExecutor",
  "TradingAccount",
  "ConstantProductPool",
  "WalletPool",
];

/** 65 days around 20, as a volatility index moves. */
const days = Array.from({ length: 65 }, (_, i): Day => {
  const close = BigInt(Math.round(200_000 + 8_000 * Math.sin(i * 1.7) + 5_000 * Math.cos(i * 0.6)));
  return { close, high: close + 4_000n, low: close - 3_500n };
});

beforeAll(async () => {
  local = await startLocalChain();
  folder = temporaryFolder();
  const deployment = await deployLocal(local);
  chain = requireAccount(await connect({ rpcUrl: local.rpcUrl, deployment, account: owner }));
  const { sender, close } = openDataFolder(folder.path, chain, [], QUICK);
  models = await publishModels(chain, sender, TRADING_MODELS).finally(close);
  contracts = new ContractSender(chain, owner);
  trading = await deployTrading(chain, contracts, models, days);
  wallet = await deployWallet();
});
afterAll(async () => {
  await local?.stop();
  folder?.remove();
});

/** A wallet agent whose executor is the policy model: the pool's three tools and a transfer. */
async function deployWallet(): Promise<typeof wallet> {
  const policy = onChainModel(chain, models, "policy");
  const executor = await contracts.deploy("PolicyExecutor", [
    policy.interpreter,
    policy.id,
    policy.selector,
    [{ symbol: "vol", token: trading.base, decimals: 18 }],
  ]);
  const pool = await contracts.deploy("WalletPool", [owner.address]);
  const converter = await contracts.deploy("ViewBalanceResultConverter", []);
  const agent = await contracts.addressAhead(3);
  const asset = { paramType: 1, name: "asset", description: "the token" };
  const amount = { paramType: 4, name: "amount", description: "how much" };
  const tool = (name: string, functionName: string, params: readonly unknown[], reason?: string) =>
    contracts.deploy("CallerListedTool", [
      name,
      name,
      pool,
      selectorOf(functionName),
      { paramDescriptions: params },
      reason !== undefined,
      reason ?? "",
      converter,
      [agent],
    ]);
  const tools = [
    await tool("DeployTool", "deploy(address,uint256)", [asset, amount], "Successfully deployed"),
    await tool("WithdrawTool", "withdraw(address,uint256)", [asset, amount], "Successfully withdrawn"),
    await tool("ViewBalanceTool", "balance(address)", [asset]),
  ];
  const name = "Wallet agent";
  expect(
    await contracts.deploy("OwnedAgent", [
      owner.address,
      executor,
      policy.id,
      name,
      name,
      "a wish",
      "",
      tools,
      10,
    ]),
  ).toBe(agent.toLowerCase());
  for (const operator of tools) await contracts.call(pool, "WalletPool", "setOperator", [operator, true]);
  await contracts.call(trading.base, "LocalToken", "approve", [pool, parseEther("1000")]);
  return { agent, pool };
}

/** An account with this code. */
async function codeAt(bytecode: Hex, index: number): Promise<Hex> {
  const address = `0x${"c0de".repeat(9)}000${index}` as const;
  await local.control.setCode({ address, bytecode });
  return address;
}

function selectorOf(signature: string): Hex {
  const { abi } = loadArtifact("WalletPool");
  return toFunctionSelector(getAbiItem({ abi, name: signature.split("(")[0] as string }) as AbiFunction);
}

const inputOf = (prompt: string) => {
  const value = encodeAbiParameters([{ type: "string" }], [prompt]);
  return { params: [{ paramType: 0, value }], abiEncodedParams: value };
};

async function run(
  agent: Hex,
  prompt: string,
): Promise<{ steps: string[]; answer: string; receipt: TransactionReceipt }> {
  const receipt = await contracts.call(agent, "OwnedAgent", "run", [inputOf(prompt), owner.address]);
  const { abi } = loadArtifact("OwnedAgent");
  const [event] = parseEventLogs({ abi, logs: receipt.logs, eventName: "AgentRunResult" });
  const { executionSteps, answer } = (
    event as unknown as { args: { executionSteps: string[]; answer: string } }
  ).args;
  return { steps: executionSteps, answer, receipt };
}

const refusal = (agent: Hex, prompt: string): Promise<string> =>
  run(agent, prompt).then(
    ({ answer }) => `answered: ${answer}`,
    (error: unknown) => revertReason(error, ERRORS),
  );

const balances = async () =>
  (
    (await chain.client.readContract({
      address: trading.account,
      abi: loadArtifact("TradingAccount").abi,
      functionName: "exposure",
    })) as readonly bigint[]
  ).slice(0, 2);

const trades = (receipt: TransactionReceipt) =>
  parseEventLogs({
    abi: loadArtifact("TradingAccount").abi,
    logs: receipt.logs,
    eventName: "Traded",
  }) as unknown as {
    args: { pool: Hex; isBuy: boolean; amountIn: bigint; amountOut: bigint };
  }[];

/** The trade went where the block before would have given most. */
async function expectBestPool(receipt: TransactionReceipt, tokenIn: Hex): Promise<void> {
  const [trade] = trades(receipt);
  const { pool, amountIn, amountOut } = (trade as typeof trade & object).args;
  const offers = await Promise.all(
    trading.pools.map((address) =>
      chain.client.readContract({
        address,
        abi: loadArtifact("ConstantProductPool").abi,
        functionName: "quoteOut",
        args: [tokenIn, amountIn],
        blockNumber: receipt.blockNumber - 1n,
      }),
    ),
  );
  const [first, second] = offers as [bigint, bigint];
  expect(first).not.toBe(second);
  expect(amountOut).toBe([first, second].sort((a, b) => Number(b - a))[0]);
  expect(pool.toLowerCase()).toBe(trading.pools[first > second ? 0 : 1]);
}

const toolsOf = (steps: readonly string[]): string[] => steps.map((step) => step.slice(0, step.indexOf("{")));

describe("trading agent", () => {
  // shows: E1-003, E1-095, D-39
  it("default: bad news sell, good news buy, each in one transaction, at the better of two pools", async () => {
    const sold = await run(trading.agent, `Trade on this headline "${BAD}"`);
    expect(toolsOf(sold.steps)).toEqual(["SentimentTool", "ForecastTool", "OptimizerTool", "TradeTool"]);
    const score = /score: (-\d+)/.exec(sold.steps[0] as string)?.[1] as string;
    expect(sold.steps[1]).toContain(`ForecastTool{score: ${score}}`);
    expect(sold.steps[1]).toContain(`price: ${days.at(-1)?.close}`);
    expect(trades(sold.receipt)).toMatchObject([{ args: { isBuy: false } }]);
    await expectBestPool(sold.receipt, trading.base);

    const bought = await run(trading.agent, `trade on the news "${GOOD}"`);
    expect(trades(bought.receipt)).toMatchObject([{ args: { isBuy: true } }]);
    expect(bought.answer).toContain("bought, spent: ");
    await expectBestPool(bought.receipt, trading.quote);
  });

  // shows: E1-095
  it("behavior: the optimizer says hold, and nothing is traded", async () => {
    const before = await balances();
    const { steps, answer, receipt } = await run(trading.agent, `trade on this tweet "${DULL}"`);
    expect(toolsOf(steps)).toEqual(["SentimentTool", "ForecastTool", "OptimizerTool"]);
    expect(answer).toMatch(/^hold, share: /);
    expect(trades(receipt)).toEqual([]);
    expect(await balances()).toEqual(before);
  });

  // shows: E1-098
  it("error: a trade above the limit of the account undoes the whole run", async () => {
    const last = days.at(-1) as Day;
    const up = { close: (last.close * 13n) / 10n, high: (last.high * 13n) / 10n, low: last.low };
    const before = await balances();
    const snapshot = await local.client.request({ method: "evm_snapshot" } as never);
    await contracts.call(trading.feed, "PriceFeed", "add", [[up]]);
    expect(await refusal(trading.agent, `trade on this headline "${BAD}"`)).toMatch(
      /^ToolFailed\(.*TradeTooLarge\(/,
    );
    await local.client.request({ method: "evm_revert", params: [snapshot] } as never);
    expect(await balances()).toEqual(before);
  });

  it("error: only the owner runs the agent, only the agent trades", async () => {
    const stranger = new ContractSender(chain, accountAt(5));
    const call = (to: Hex, name: string, functionName: string, args: readonly unknown[]) =>
      stranger.call(to, name, functionName, args).then(
        () => "done",
        (error: unknown) => revertReason(error, ERRORS),
      );
    expect(await call(trading.agent, "OwnedAgent", "run", [inputOf("trade"), owner.address])).toMatch(
      /^NotOwner\(/,
    );
    expect(await call(trading.account, "TradingAccount", "trade", [true, 1n])).toMatch(/^NotTrader\(/);
    expect(await call(trading.account, "TradingAccount", "withdraw", [trading.quote, 1n])).toMatch(
      /^NotOwner\(/,
    );
  });
});

describe("wallet agent with the policy executor", () => {
  // shows: E1-007, E1-010
  it("default: three clauses, three tools, one transaction", async () => {
    const { steps, answer } = await run(
      wallet.agent,
      "Please deposit 10.5 vol into the pool; withdraw 4 VOL from the pool then show my vol balance",
    );
    expect(toolsOf(steps)).toEqual(["DeployTool", "WithdrawTool", "ViewBalanceTool"]);
    expect(steps[0]).toContain(`amount: ${parseEther("10.5")}`);
    expect(answer).toBe(`The balance is: ${parseEther("6.5")}`);
  });

  // shows: E1-007
  it("error: a failure of the third tool undoes the first two", async () => {
    const balance = () =>
      chain.client.readContract({
        address: wallet.pool,
        abi: loadArtifact("WalletPool").abi,
        functionName: "balance",
        args: [trading.base],
      });
    const before = await balance();
    expect(await refusal(wallet.agent, "deposit 3 vol; deposit 2 vol; withdraw 100 vol")).toMatch(
      /^ToolFailed\(.*BalanceTooSmall\(/,
    );
    expect(await balance()).toBe(before);
  });

  it("error: what is not understood, missing or unknown", async () => {
    expect(await refusal(wallet.agent, "tell me a joke")).toBe("answered: None of my tools can do that.");
    expect(await refusal(wallet.agent, "")).toBe("answered: There is nothing to do.");
    expect(await refusal(wallet.agent, "deposit 1 vol; tell me a joke")).toMatch(/^ClauseNotUnderstood\(1, /);
    expect(await refusal(wallet.agent, "deposit 10 doge")).toMatch(/^ValueMissing\(.*asset/);
    expect(await refusal(wallet.agent, "deposit 0.1234567890123456789 vol")).toMatch(/^AmountUnfit\(/);
    expect(await refusal(wallet.agent, `trade on this headline "${GOOD}"`)).toMatch(
      /^UnknownTool\(SentimentTool\)/,
    );
  });

  // shows: E1-061
  it("error: an agent that names another model is told which one there is", async () => {
    const { owner: name, ...policy } = { owner: owner.address, ...onChainModel(chain, models, "policy") };
    const executor = await contracts.deploy("PolicyExecutor", [
      policy.interpreter,
      policy.id,
      policy.selector,
      [],
    ]);
    const args = [name, executor, "gpt", "Agent", "An agent", "a wish", "", [], 2];
    const stray = await contracts.deploy("OwnedAgent", args);
    expect(await refusal(stray, "show my balance")).toBe(`UnknownModel(gpt, ${policy.id})`);
  });

  // shows: E1-099
  it("behavior: texts that attack agents move nothing, whatever they say", async () => {
    const texts = injections.cases.map(({ text }: { text: string }) => text.replaceAll('"', ""));
    expect(texts.length).toBeGreaterThanOrEqual(100);
    const before = await balances();
    for (const text of texts) {
      const reason = await refusal(wallet.agent, text);
      expect(reason, text).toMatch(
        /^(answered: (None of my tools|There is nothing|The balance is)|ClauseTooLong|NumberAmbiguous|ValueMissing|UnknownTool|ClauseNotUnderstood|ToolFailed|WrongChecksum|QuoteOpen)/,
      );
    }
    expect(await balances()).toEqual(before);
  });

  it("behavior: a listed tool that burns its gas, or says a megabyte, for a name is passed over", async () => {
    const { interpreter, id, selector } = onChainModel(chain, models, "policy");
    const executor = await contracts.deploy("PolicyExecutor", [interpreter, id, selector, []]);
    const passages = ["Loans are repaid in monthly instalments."];
    const retrieval = await contracts.deploy("PassageTool", [passages]);
    // INVALID; and a return of 2^20 zeros.
    const hostile = await Promise.all((["0xfe", "0x621000006000f3"] as const).map(codeAt));
    const { result: next } = await chain.client.simulateContract({
      address: executor,
      abi: iercAgentExecutorAbi,
      functionName: "runNextIteration",
      args: [id, "", [...hostile, retrieval], [], [], 'Search the documents for "how are loans repaid"'],
    });
    expect(next.tool.toLowerCase()).toBe(retrieval.toLowerCase());
  });
});
