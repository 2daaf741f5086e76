/** `assay feed`: forecasts that contracts read as price feeds. */
import type { Command } from "commander";
import { runFeed } from "../../agent/feed/main.ts";
import { type Feed, type FeedRound, readFeed, readLatest, readRound } from "../../agent/feed/reads.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { laneNames } from "../../protocol/rules/shortfall.ts";
import { LIMITS } from "../../protocol/rules/types.ts";
import { integer, loadConfig, type Settings, wei } from "../../protocol/service/config.ts";
import { addressOf } from "../agent/executor.ts";
import { chainConfig, openChain, withChain, withSettings } from "../chain.ts";
import { stopSignal } from "../daemon.ts";
import { createLogger } from "../log.ts";
import { printResult, withJson } from "../output.ts";
import { addFeedDeployCommand } from "./deploy.ts";

const RUN_SETTINGS = {
  heartbeatSeconds: {
    schema: integer(0, 365 * 86_400),
    default: 0,
    description: "a round at least this often where there are newer data; 0: over each new day",
  },
  deviationPpm: {
    schema: integer(1, 1_000_000),
    default: 10_000,
    description: "parts per million of the price by which a new day is due before the heartbeat",
  },
  fee: {
    schema: wei,
    default: "0.002 ether",
    description: "to the prover, for each round that is asked for",
  },
  expirySeconds: {
    schema: integer(60, LIMITS.maxExpiryAhead),
    default: 21_600,
    description: "how long a claim may be made; then the fee comes back, and the round is asked for again",
  },
} as const satisfies Settings;

/** Rounds that `show` prints. */
const SHOWN_ROUNDS = 10n;

export function addFeedCommands(program: Command): void {
  const feed = program.command("feed").description("forecasts that contracts read as price feeds");
  addFeedDeployCommand(feed);
  const run = feed
    .command("run")
    .description("keep a feed up to date: record the source's rounds, ask for outputs, write them as rounds")
    .argument("<feed>", "address of the feed");
  withSettings(withChain(run), RUN_SETTINGS).action(runCommand);
  const show = feed
    .command("show")
    .description("a feed's terms and newest rounds")
    .argument("<feed>", "address of the feed");
  withJson(withChain(show)).action(showCommand);
}

async function runCommand(given: string, _options: object, self: Command): Promise<void> {
  const config = chainConfig(self);
  const settings = loadConfig(RUN_SETTINGS, { flags: self.optsWithGlobals(), env: {} });
  const feed = addressOf("feed", given);
  const log = createLogger("feed", self);
  const signal = stopSignal(log);
  const chain = requireAccount(await openChain(config, log));
  const { data, pollIntervalMs, maxFee } = config;
  const { heartbeatSeconds, deviationPpm: deviation, fee, expirySeconds } = settings;
  const pace = { heartbeatSeconds, deviation };
  await runFeed({ chain, feed, pace, fee, expirySeconds, data, pollIntervalMs, maxFee, log }, signal);
}

async function showCommand(given: string, _options: object, self: Command): Promise<void> {
  const chain = await openChain(chainConfig(self));
  const feed = await readFeed(chain, addressOf("feed", given));
  const { now, rounds } = await withContext(`read the rounds of ${feed.address}`, async () => {
    const { timestamp } = await chain.client.getBlock();
    const latest = await readLatest(chain, feed.address);
    const first = latest === undefined ? 1n : latest.roundId - SHOWN_ROUNDS + 1n;
    const earlier = latest === undefined ? [] : idsFrom(first < 1n ? 1n : first, latest.roundId);
    const read = earlier.map((id) => readRound(chain, feed.address, id));
    return { now: Number(timestamp), rounds: [...(await Promise.all(read)), ...(latest ? [latest] : [])] };
  });
  printResult(self, { feed, rounds, isStale: isStale(feed, rounds.at(-1), now) }, [
    feed.description,
    `  feed    ${feed.address}`,
    `  model   ${feed.modelId}`,
    `  series  ${feed.series.address}, ${feed.series.length} days of ${feed.series.source}`,
    `  rounds  ${feed.executes ? "that the chain computes" : `final in the lanes ${laneNames(feed.lanes)}`}`,
    ...rounds.map((round) => describeRound(feed, round, now)),
    ...(isStale(feed, rounds.at(-1), now)
      ? ["Nothing is read from it now: no round, or none that is fresh."]
      : []),
  ]);
}

const idsFrom = (first: bigint, end: bigint): bigint[] =>
  Array.from({ length: Number(end - first) }, (_, i) => first + BigInt(i));

const isStale = ({ maxAge }: Feed, latest: FeedRound | undefined, now: number): boolean =>
  latest === undefined || now > latest.observedAt + maxAge;

const describeRound = ({ decimals }: Feed, { roundId, answer, observedAt }: FeedRound, now: number) =>
  `  round ${roundId}: ${Number(answer) / 10 ** decimals}, data ${Math.floor((now - observedAt) / 60)} min old`;
