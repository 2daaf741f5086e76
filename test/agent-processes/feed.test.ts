/** Feeds kept up to date by processes: rounds that the chain computes, rounds of bonded claims, and one that is killed. */
import { join } from "node:path";
import { type Abi, type Address, createWalletClient, type Hex, http } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLatest } from "../../agent/feed/reads.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { dailySeriesAbi, forecastFeedAbi } from "../../protocol/rules/generated/abis.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { runAssay } from "../support/assay.ts";
import { longTest } from "../support/long-test.ts";
import { createRng } from "../support/rng.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const MODEL = "forecast-vix";
const DAY = 86_400;
const ROUNDS_A_DAY = 7;
/** More than the model reads. */
const DAYS = 67;
const DEPLOYER = ROLES.cheat + 1;
const EXECUTING = ROLES.cheat + 2;
const ASKING = ROLES.cheat + 3;

let system: System;
let source: Address;
let feed: Address;
let series: Address;
const daemons: Daemon[] = [];
const rng = createRng(20_04);
let price = 2_000n * 10n ** 8n;
/** what the days' bars must be */
const bars = new Map<number, { close: bigint; high: bigint; low: bigint; closeAt: number }>();

const wallet = () => createWalletClient({ account: systemAccount(DEPLOYER), transport: http(system.rpcUrl) });
const mined = (hash: Hex) => system.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
const nowOf = async () => Number((await system.client.getBlock()).timestamp);
const env = (index: number) => ({
  ASSAY_RPC_URL: system.rpcUrl,
  ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
  ASSAY_KEY: keyOf(index),
});

/** Rounds of whole days, on a random walk. */
async function trade(first: number, last: number): Promise<void> {
  const [answers, times]: [bigint[], bigint[]] = [[], []];
  for (let day = first; day <= last; day++) {
    const prices: bigint[] = [];
    for (let i = 0; i < ROUNDS_A_DAY; i++) {
      price += (price * BigInt(rng.int(-100, 100))) / 5_000n;
      prices.push(price);
      times.push(BigInt(day * DAY + i * 12_000));
    }
    answers.push(...prices);
    const by = (a: bigint, b: bigint) => (a < b ? -1 : 1);
    const sorted = [...prices].sort(by);
    bars.set(day, {
      close: prices.at(-1) as bigint,
      high: sorted.at(-1) as bigint,
      low: sorted[0] as bigint,
      closeAt: day * DAY + (ROUNDS_A_DAY - 1) * 12_000,
    });
  }
  const { abi } = loadArtifact("TestSource");
  const call = { address: source, abi: abi as Abi, functionName: "pushMany", args: [answers, times] };
  await mined(await wallet().writeContract({ ...call, chain: null }));
}

function run(name: string, index: number, address: Address): Daemon {
  const { folder, rpcUrl } = system;
  const deployment = join(folder, "deployment.json");
  const daemon = startDaemon({
    name,
    args: ["feed", "run", address],
    key: keyOf(index),
    folder,
    rpcUrl,
    deployment,
  });
  daemons.push(daemon);
  return daemon;
}

/** The round with this id, once there is one. */
async function round(address: Address, id: bigint) {
  const latest = () => readLatest(system.chain, address);
  await expect.poll(async () => (await latest())?.roundId, { timeout: 300_000, interval: 200 }).toBe(id);
  return (await latest()) as NonNullable<Awaited<ReturnType<typeof latest>>>;
}

/** The 10 % quantile that the canonical executor makes of the series' newest input. */
async function expected(): Promise<bigint> {
  const { model, selector } = system.model(MODEL);
  const [input] = await system.client.readContract({
    address: series,
    abi: dailySeriesAbi,
    functionName: "newest",
    args: [toHex(selector)],
  });
  const output = execute(prepare(model, selector), fromHex(input));
  return BigInt.asIntN(256, BigInt(toHex(output.slice(0, 32))));
}

beforeAll(async () => {
  system = await startSystem({ models: [MODEL], answerSeconds: 5 });
  const { model, modelId } = system.model(MODEL);
  const { chain, sender } = await system.open("publisher", ROLES.challenger);
  await publishWeights(chain, sender, modelId as ModelId, planPublication(model));
  const { abi, bytecode } = loadArtifact("TestSource");
  const hash = await wallet().deployContract({ abi: abi as Abi, bytecode, args: [8], chain: null });
  source = (await mined(hash)).contractAddress as Address;
  // Two hours into a day: the day before counts, and goes on to while this runs.
  const now = await nowOf();
  await system.passTime(DAY - (now % DAY) + 7_200);
  const today = Math.floor((await nowOf()) / DAY);
  await trade(today - DAYS, today - 1);
});
afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  await system?.stop();
});

async function deploy(...flags: string[]): Promise<{ feed: Address; series: Address }> {
  const args = ["feed", "deploy", MODEL, "--upper", "0", "--json", ...flags];
  const { code, stdout, stderr } = await runAssay(args, env(DEPLOYER));
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout) as { feed: Address; series: Address };
}

describe("assay feed", () => {
  it("default: records the days, and has the chain compute a round for each new one", async () => {
    ({ feed, series } = await deploy("--source", source));
    await run("executing", EXECUTING, feed).logged("wrote a round that the chain computed");
    const first = await round(feed, 1n);
    expect(first.answer).toBe(await expected());
    const newest = Math.floor(first.observedAt / DAY);
    for (let day = newest - 64; day <= newest; day++) {
      const bar = await system.client.readContract({
        address: series,
        abi: dailySeriesAbi,
        functionName: "barOf",
        args: [BigInt(day)],
      });
      expect([day, bar]).toEqual([day, bars.get(day)]);
    }
    await system.passTime(DAY);
    await trade(newest + 1, Math.floor((await nowOf()) / DAY) - 1);
    const second = await round(feed, 2n);
    expect([second.answer, second.observedAt > first.observedAt]).toEqual([await expected(), true]);
    const { code, stdout } = await runAssay(["feed", "show", feed], env(DEPLOYER));
    expect(code).toBe(0);
    expect(stdout).toMatch(/round 1: -0\.\d+, data \d+ min old\n {2}round 2: -0\.\d+/);
  });

  longTest(
    "behavior: a round of a bonded claim; killed while it waits, the runner asks no second time",
    async () => {
      const asked = await deploy("--series", series, "--lanes", "BOND");
      await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
      const killed = run("asking", ASKING, asked.feed);
      await killed.logged("asked for a round");
      process.kill(killed.pid as number, "SIGKILL");
      await killed.ended;
      await run("asking", ASKING, asked.feed).logged("wrote a round");
      const written = await round(asked.feed, 1n);
      expect(written.answer).toBe(await expected());
      const own = systemAccount(ASKING).address.toLowerCase();
      const requests = system.events.all(
        "Requested",
        ({ request }) => request.requester.toLowerCase() === own,
      );
      expect(requests).toHaveLength(1);
      const [, answer] = await system.client.readContract({
        address: asked.feed,
        abi: forecastFeedAbi,
        functionName: "latestRoundData",
      });
      expect(answer).toBe(written.answer);
    },
  );

  it("error: no feed, another deployment's feed, flags that do not fit", async () => {
    const codeOf = async (...args: string[]) => {
      const { code, stderr } = await runAssay(["feed", ...args, "--json"], env(DEPLOYER));
      return [
        code,
        (JSON.parse(stderr) as { error: { code: string } }).error?.code ?? JSON.parse(stderr).code,
      ];
    };
    expect(await codeOf("show", series)).toEqual([1, "FEED_UNKNOWN"]);
    expect(await codeOf("show", systemAccount(9).address)).toEqual([1, "FEED_UNKNOWN"]);
    expect(await codeOf("deploy", MODEL)).toEqual([2, "ARGUMENT_INVALID"]);
    expect(await codeOf("deploy", MODEL, "--source", source, "--element", "3")).toEqual([
      2,
      "ARGUMENT_INVALID",
    ]);
    expect(await codeOf("deploy", MODEL, "--source", source, "--lower", "1", "--upper", "0")).toEqual([
      2,
      "ARGUMENT_INVALID",
    ]);
  });
});
