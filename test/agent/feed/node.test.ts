import { type Abi, type Address, createWalletClient, http } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SourceHistory } from "../../../agent/feed/history.ts";
import { FeedNode } from "../../../agent/feed/node.ts";
import { readFeed, readNewest } from "../../../agent/feed/reads.ts";
import { FEED_SCHEMA, FeedStore } from "../../../agent/feed/store.ts";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { loadArtifact } from "../../../cli/artifacts.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { historyOf } from "../../../protocol/chain/history.ts";
import { registerModel } from "../../../protocol/chain/register.ts";
import { forecastFeedAbi } from "../../../protocol/rules/generated/abis.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import { LANE, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { ensureCompiled } from "../../../tools/compile.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { claimOutput } from "../../support/claims.ts";
import { openLocalSystem } from "../../support/deploy.ts";
import { loadForecast } from "../../support/forecast.ts";

const DAY = 86_400;
const PRICE = 2_000n * 10n ** 8n;
const forecast = loadForecast();
const logged: { readonly message: string; readonly fields: object }[] = [];
const note = (fields: object, message: string) => void logged.push({ message, fields });
const log = { debug: note, info: note, warn: note, error: note };

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let source: Address;
let feed: Address;
let series: Address;

const wallet = () => createWalletClient({ account: accountAt(1), transport: http(local.rpcUrl) });
async function create(name: string, args: readonly unknown[]): Promise<Address> {
  const { abi, bytecode } = loadArtifact(name);
  const hash = await wallet().deployContract({ abi: abi as Abi, bytecode, args, chain: null });
  return (await local.client.waitForTransactionReceipt({ hash })).contractAddress as Address;
}
const nowOf = async () => Number((await local.client.getBlock()).timestamp);
/** One round at noon of each of these days, all of one price. */
async function trade(first: number, last: number): Promise<void> {
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const { abi } = loadArtifact("TestSource");
  const args = [days.map(() => PRICE), days.map((day) => BigInt(day * DAY + DAY / 2))];
  const call = { address: source, abi: abi as Abi, functionName: "pushMany", args };
  await local.client.waitForTransactionReceipt({
    hash: await wallet().writeContract({ ...call, chain: null }),
  });
}
const today = async () => Math.floor((await nowOf()) / DAY);

beforeAll(async () => {
  ensureCompiled("all");
  local = await startLocalChain();
  system = await openLocalSystem(local);
  const { model, commitment, selector, manifest } = forecast;
  const vkHash = fromHex(manifest.assay.vkHash);
  const identity = { ...commitment, selector, lanes: LANE.BOND, vkHash: vkHash.fill(0) };
  const { modelId } = await registerModel(
    system.chain,
    system.sender,
    encodeProgram(model.program),
    identity,
  );
  source = await create("TestSource", [8]);
  series = await create("DailySeries", [source, model.program.inputSize, 0, 3_600]);
  feed = await create("ForecastFeed", [
    { assay: system.chain.game.assay, interpreter: ZERO_ADDRESS, series },
    { modelId, lanes: LANE.BOND, minBond: 0n, minWindow: 0 },
    { element: 0, decimals: 6, lower: -1_000_000, upper: 1_000_000, maxAge: 20 * DAY, description: "steady" },
  ]);
  // Two hours into a day: the day before counts.
  await local.passTime(DAY - ((await nowOf()) % DAY) + 7_200);
  await trade((await today()) - model.program.inputSize - 2, (await today()) - 1);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

describe("FeedNode", () => {
  it("behavior: unchanged prices make one input: the request that is open answers for the newer data too", async () => {
    const { chain, sender } = system;
    const about = await readFeed(chain, feed);
    const db = openDatabase(`${system.folder}/feed.sqlite`, [FEED_SCHEMA]);
    const store = new FeedStore(db, feed);
    const node = new FeedNode({
      ...{ chain, sender, store, feed: about, log },
      history: new SourceHistory(chain.client, source, about.series.unit),
      pace: { heartbeatSeconds: DAY, deviation: 1_000_000 },
      fee: 1_000n,
      expirySeconds: 10 * DAY,
      signal: new AbortController().signal,
    });
    const warnings = () => logged.filter(({ fields }) => "code" in fields);
    await node.tick();
    const [first] = store.open();
    const before = await readNewest(chain, about);
    expect(first?.observedAt).toBe(before?.observedAt);
    await local.passTime(DAY);
    await trade((await today()) - 1, (await today()) - 1);
    await node.tick();
    await node.tick();
    const newest = await readNewest(chain, about);
    expect(newest).toEqual({ ...before, observedAt: (before?.observedAt ?? 0) + DAY });
    expect([warnings(), store.open()]).toEqual([[], [{ ...first, observedAt: newest?.observedAt }]]);
    expect(logged.filter(({ message }) => message.includes("newer data too"))).toHaveLength(1);

    // Its answer is a round over the newest data.
    if (first === undefined) throw new Error("nothing was asked");
    const output = execute(prepare(forecast.model, forecast.selector), fromHex(first.input));
    await claimOutput(chain, sender, first.request, toHex(output));
    await local.passTime(first.request.window + 1);
    await node.tick();
    expect([warnings(), store.open()]).toEqual([[], []]);
    const round = await chain.client.readContract({
      address: feed,
      abi: forecastFeedAbi,
      functionName: "getRoundData",
      args: [1n],
    });
    expect(Number(round[2])).toBe(newest?.observedAt);
    const events = await historyOf(chain, requestIdOf(chain.game, first.request));
    expect(events.filter(({ name }) => name === "Requested")).toHaveLength(1);
    db.close();
  });
});
