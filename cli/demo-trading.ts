/** `npm run demo:trading`: an agent that decides and trades in one transaction, all of it computed by the chain.
 *
 *  For each headline the agent runs once: its policy model chooses the tools, the sentiment model reads the headline,
 *  the forecast model reads the price feed, the optimizer compares with what the account holds, and only if that says
 *  so a trade follows. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeAbiParameters, formatEther, type Hex, parseEventLogs } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connect, createClient } from "../protocol/chain/connect.ts";
import { deploySystem } from "../protocol/chain/deploy.ts";
import { requireAccount } from "../protocol/chain/sender.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { projectRoot } from "../tools/foundry.ts";
import { ANVIL_KEYS, startAnvil } from "./anvil.ts";
import { loadArtifact, loadArtifacts } from "./artifacts.ts";
import { ContractSender, revertReason } from "./demo/contracts.ts";
import { publishModels } from "./demo/models.ts";
import { Progress } from "./demo/progress.ts";
import { plainStep } from "./demo/steps.ts";
import { type Day, deployTrading, TRADING_MODELS } from "./demo/trading.ts";
import { reportError } from "./output.ts";

interface Input {
  readonly headlines: readonly string[];
  readonly prices: Readonly<Record<"closes" | "highs" | "lows", readonly string[]>>;
}

/** Days after the feed's last one, for a market that moved. */
const JUMP = 125n;

async function main(): Promise<void> {
  const startMs = Date.now();
  const progress = new Progress(startMs);
  const log = (line: string): void => progress.log(line);
  const folder = mkdtempSync(join(tmpdir(), "assay-trading-"));
  log("compiling the contracts");
  const artifacts = loadArtifacts();
  const anvil = await startAnvil();
  try {
    const account = privateKeyToAccount(ANVIL_KEYS[0] as Hex);
    const deploying = deploySystem({
      client: createClient(anvil.rpcUrl),
      account,
      artifacts,
      constants: { answerSeconds: 5, gasPriceFloor: 10n ** 9n, gasBase: 145_000n, gasPerDemand: 122_000n },
      pollIntervalMs: 50,
    });
    const deployment = await progress.during(() => "deploying", deploying);
    const chain = requireAccount(await connect({ rpcUrl: anvil.rpcUrl, deployment, account }));
    const { sender, close } = openDataFolder(join(folder, "data"), chain, [], { pollIntervalMs: 50 });
    const publishing = publishModels(chain, sender, TRADING_MODELS, log).finally(close);
    const models = await progress.during(() => "registering models and publishing their weights", publishing);
    const { headlines, prices } = JSON.parse(
      readFileSync(join(projectRoot, "cli/demo/input.json"), "utf8"),
    ) as Input;
    const days = prices.closes.map(
      (close, i): Day => ({
        close: BigInt(close),
        high: BigInt(prices.highs[i] as string),
        low: BigInt(prices.lows[i] as string),
      }),
    );
    const contracts = new ContractSender(chain, account);
    const trading = await progress.during(
      () => "deploying the agent and its tools",
      deployTrading(chain, contracts, models, days),
    );
    log(`the agent is at ${trading.agent}, its account holds half of its worth in each token`);
    const { abi } = loadArtifact("OwnedAgent");
    const run = async (prompt: string): Promise<void> => {
      const value = encodeAbiParameters([{ type: "string" }], [prompt]);
      const input = { params: [{ paramType: 0, value }], abiEncodedParams: value };
      const { logs, gasUsed } = await contracts.call(trading.agent, "OwnedAgent", "run", [
        input,
        account.address,
      ]);
      const [event] = parseEventLogs({ abi, logs, eventName: "AgentRunResult" });
      const { executionSteps, answer } = (
        event as unknown as { args: { executionSteps: string[]; answer: string } }
      ).args;
      console.log(`\n${prompt}\n  one transaction, ${gasUsed.toLocaleString("en")} gas`);
      for (const step of executionSteps) console.log(`  ${plainStep(step)}`);
      console.log(`  answer: ${answer}`);
      const [baseHeld, quoteHeld, share] = (await chain.client.readContract({
        address: trading.account,
        abi: loadArtifact("TradingAccount").abi,
        functionName: "exposure",
      })) as readonly [bigint, bigint, bigint];
      console.log(
        `  account: ${Number(formatEther(baseHeld)).toFixed(2)} VOL, ${Number(formatEther(quoteHeld)).toFixed(2)} USD, ${Number(share) / 10_000} % in VOL`,
      );
    };
    for (const headline of headlines) await run(`Trade on this headline "${headline}"`);
    const last = days.at(-1) as Day;
    const jumped = { close: (last.close * JUMP) / 100n, high: (last.high * JUMP) / 100n, low: last.low };
    await contracts.call(trading.feed, "PriceFeed", "add", [[jumped]]);
    console.log(
      `\nThe feed's price rises by ${JUMP - 100n} %: the optimizer wants to sell more than the account allows at once.`,
    );
    await run(`Trade on the news "${headlines[0]}"`).catch((error: unknown) => {
      console.log(
        `  refused as a whole: ${revertReason(error, ["OwnedAgent", "TradingAccount", "ConstantProductPool"])}`,
      );
    });
    log("done");
  } finally {
    await anvil.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error, { debug: process.argv.includes("--debug") });
}
