/** The trading agent on a local chain: tokens, two pools, a price feed, an account with limits, four tools, and the
 *  agent whose executor is the policy model. */
import { type Address, parseEther } from "viem";
import type { LoadedModel } from "../../inference/model-folder.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { contractOf } from "../../protocol/chain/execution/infer.ts";
import type { ContractSender } from "./contracts.ts";
import { onChainModel } from "./models.ts";

export interface Day {
  readonly close: bigint;
  readonly high: bigint;
  readonly low: bigint;
}

export interface Trading {
  readonly agent: Address;
  readonly account: Address;
  readonly feed: Address;
  readonly pools: readonly Address[];
  readonly base: Address;
  readonly quote: Address;
}

export const TRADING_MODELS = ["sentiment", "forecast-vix", "policy"] as const;
/** Most that one trade and all trades of a day may be worth, and how much worse than the feed's price (1 %). */
const LIMITS = { most: parseEther("5000"), perDay: parseEther("20000"), slippage: 100n };
/** Below a difference of 10 % of the account the optimizer holds. */
const THRESHOLD_PPM = 100_000n;
const MAX_ITERATIONS = 8;
const PRICE_UNIT = 10_000n;

/** Deploys it all. Half of the account is in the base token.
 *  @param days at least 65 days of the base token's price in the quote token, times 10^4 */
export async function deployTrading(
  chain: Chain,
  sender: ContractSender,
  models: ReadonlyMap<string, LoadedModel>,
  days: readonly Day[],
): Promise<Trading> {
  const owner = sender.account.address;
  const interpreter = contractOf(chain, "interpreter");
  const price = days.at(-1)?.close ?? 0n;
  const supply = parseEther("1000000000");
  const base = await sender.deploy("LocalToken", ["Volatility index share", "VOL", owner, supply]);
  const quote = await sender.deploy("LocalToken", ["Local dollar", "USD", owner, supply]);
  const feed = await sender.deploy("PriceFeed", [owner]);
  await sender.call(feed, "PriceFeed", "add", [days]);
  const pools: Address[] = [];
  // The second pool is smaller and a little dearer: the tool has something to choose.
  for (const [size, premium] of [
    [parseEther("100000"), 0n],
    [parseEther("20000"), 20n],
  ] as const) {
    const pool = await sender.deploy("ConstantProductPool", [base, quote, owner]);
    const quoteAmount = (size * price * (10_000n + premium)) / PRICE_UNIT / 10_000n;
    await sender.call(base, "LocalToken", "approve", [pool, size]);
    await sender.call(quote, "LocalToken", "approve", [pool, quoteAmount]);
    await sender.call(pool, "ConstantProductPool", "provide", [size, quoteAmount]);
    pools.push(pool);
  }
  const account = await sender.deploy("TradingAccount", [owner, feed, pools, LIMITS]);
  const held = parseEther("10000");
  await sender.call(quote, "LocalToken", "transfer", [account, held]);
  await sender.call(base, "LocalToken", "transfer", [account, (held * PRICE_UNIT) / price]);

  const modelOf = (name: string) => onChainModel(chain, models, name);
  const policy = modelOf("policy");
  const executor = await sender.deploy("PolicyExecutor", [interpreter, policy.id, policy.selector, []]);
  const tool = (name: string, args: readonly unknown[]) => sender.deploy(name, args, "TradingTools.sol");
  // The trade tool takes orders from the agent alone, which is deployed after it and the naming of the trader.
  const agentAddress = await sender.addressAhead(5);
  const tools = [
    await tool("SentimentTool", [modelOf("sentiment")]),
    await tool("ForecastTool", [modelOf("forecast-vix"), feed]),
    await tool("OptimizerTool", [account, THRESHOLD_PPM]),
    await tool("TradeTool", [account, agentAddress]),
  ];
  await sender.call(account, "TradingAccount", "setTrader", [tools[3]]);
  const agent = await sender.deploy("OwnedAgent", [
    owner,
    executor,
    policy.id,
    "Trading agent",
    "Trades a volatility index share on news and a forecast, within the limits of its account",
    "What to do, with the headline in double quotes",
    "Trade on news: sentiment, forecast, optimizer, and a trade only if the optimizer says so.",
    tools,
    MAX_ITERATIONS,
  ]);
  return { agent, account, feed, pools, base, quote };
}
