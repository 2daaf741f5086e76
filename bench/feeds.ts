/** Gas of a forecast that contracts read as a feed. */
import { type Abi, type Address, encodeFunctionData, type Hex } from "viem";
import { fromHex, toHex } from "../base/bytes.ts";
import { loadArtifact } from "../cli/artifacts.ts";
import { execute } from "../inference/executor/execute.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import { planPublication, publishWeights } from "../protocol/chain/execution/publication.ts";
import { registerModel } from "../protocol/chain/register.ts";
import { dailySeriesAbi, forecastFeedAbi } from "../protocol/rules/generated/abis.ts";
import { LANE, ZERO_ADDRESS } from "../protocol/rules/types.ts";
import { accountAt } from "../test/support/anvil.ts";
import { createContract } from "../test/support/create-contract.ts";
import { createRng } from "../test/support/rng.ts";
import { ensureCompiled } from "../tools/compile.ts";
import { fileBondedClaim } from "./bonded-claim.ts";
import { type BenchChain, eventOf } from "./chain.ts";
import { onChain } from "./gas.ts";
import { type Figure, gasFigure, type Part } from "./report.ts";

const DAYS = 65;
const DAY = 86_400;
const ROUNDS_A_DAY = 3;
const ANYBODY = accountAt(5);

async function feeds(bench: BenchChain): Promise<Figure[]> {
  const { client, chain } = bench;
  ensureCompiled("all");
  const { model, selector, commitment } = loadModelFolder("models/forecast-eth");
  const lanes = LANE.EXECUTION | LANE.BOND;
  const identity = { ...commitment, selector, lanes, vkHash: new Uint8Array(32) };
  const modelId = await bench.withSender(async (sender) => {
    const registered = await registerModel(chain, sender, encodeProgram(model.program), identity);
    await publishWeights(chain, sender, registered.modelId, planPublication(model));
    return registered.modelId;
  });
  const source = await createContract(bench, loadArtifact("TestSource"), [8]);
  const series = await createContract(bench, loadArtifact("DailySeries"), [source, DAYS, 0, 3_600]);
  const feedOf = (interpreter: Address | undefined, laneBits: number) =>
    createContract(bench, loadArtifact("ForecastFeed"), [
      { assay: chain.game.assay, interpreter: interpreter ?? ZERO_ADDRESS, series },
      { modelId, lanes: laneBits, minBond: 0n, minWindow: 0 },
      { element: 0, decimals: 6, lower: -1_000_000n, upper: 0n, maxAge: 2 * DAY, description: "ETH, 10 %" },
    ]);
  const executed = await feedOf(chain.deployment.contracts.interpreter, LANE.EXECUTION);
  const claimed = await feedOf(undefined, LANE.BOND);
  const send = async (to: Address, data: Hex): Promise<bigint> =>
    (await bench.send(ANYBODY, { key: data, to, data, value: 0n, doneBy: [] })).receipt.gasUsed;
  const rng = createRng(20);
  let price = 2_000n * 10n ** 8n;
  const trade = async (day: number): Promise<bigint> => {
    const { abi } = loadArtifact("TestSource");
    const ids: bigint[] = [];
    for (let i = 0; i < ROUNDS_A_DAY; i++) {
      price += (price * BigInt(rng.int(-200, 200))) / 10_000n;
      const args = [price, BigInt(day * DAY + i * 10_000)];
      await send(source, encodeFunctionData({ abi: abi as Abi, functionName: "push", args }));
      ids.push(BigInt(latest++));
    }
    return send(
      series,
      encodeFunctionData({ abi: dailySeriesAbi, functionName: "recordRounds", args: [ids] }),
    );
  };
  let latest = 1;
  const today = Math.floor((await bench.now()) / DAY);
  for (let day = today - DAYS; day < today; day++) await trade(day);
  const call = (functionName: "announce" | "updateExecuted" | "latestRoundData") =>
    encodeFunctionData({ abi: forecastFeedAbi, functionName });
  const figures: Figure[] = [];
  for (const [when, isFirst] of [
    [today + 1, true],
    [today + 2, false],
  ] as const) {
    await bench.control.setNextBlockTimestamp({ timestamp: BigInt(when * DAY) });
    const recorded = await trade(when - 1);
    await bench.control.setNextBlockTimestamp({ timestamp: BigInt(when * DAY + 3_600) });
    const announced = await send(claimed, call("announce"));
    const [input] = await client.readContract({
      address: series,
      abi: dailySeriesAbi,
      functionName: "newest",
      args: [toHex(selector)],
    });
    const output = toHex(execute(prepare(model, selector), fromHex(input)));
    const filed = await fileBondedClaim(bench, { modelId, input, output });
    const { windowEnd } = eventOf(filed.claimed, "Claimed");
    await bench.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd) });
    const update = encodeFunctionData({
      abi: forecastFeedAbi,
      functionName: "update",
      args: [filed.request, filed.claim, output],
    });
    const written = await send(claimed, update);
    const computed = await send(executed, call("updateExecuted"));
    if (isFirst) continue;
    const read = await client.estimateGas({ to: executed, data: call("latestRoundData") });
    figures.push(
      gasFigure("a day's record: high, low and close in one transaction", recorded),
      gasFigure("round that the chain computes", computed),
      gasFigure("announcing the input of a request", announced),
      gasFigure("round of a final claim, without request, claim and end", written),
      gasFigure("latestRoundData, within a consumer's transaction", read - 21_064n),
    );
  }
  return figures;
}

export const FEEDS_PART: Part = {
  name: "feeds",
  title: "A forecast as a feed",
  method:
    "models/forecast-eth over 65 days of a price feed with three rounds a day, whole transactions on anvil on the feed's second day (the first also pays for new storage slots). A request, its claim and its end stand under *Gas of a request without a dispute*.",
  run: () => onChain(feeds),
};
