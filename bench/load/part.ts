/** One `assay challenger` process under load: what it missed, how soon it knew, and how much memory that took. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";
import { temporaryFolder } from "../../test/support/deploy.ts";
import { fetchMetrics } from "../../test/support/exposition.ts";
import { projectRoot } from "../../tools/foundry.ts";
import {
  type BenchOptions,
  exactly,
  type Figure,
  grouped,
  type Measured,
  megabytes,
  type Part,
} from "../report.ts";
import {
  ANSWER_SECONDS,
  CHALLENGER_INDEX,
  type FiledClaim,
  type LoadChain,
  openLoadChain,
  PROVERS,
} from "./chain.ts";

const CLAIMS = 10_000;
const CLAIMS_PER_BLOCK = 100;
/** One in so many is wrong, the first one included. */
const WRONG_EVERY = 500;
/** Shares of the claims at which memory is looked at. */
const SAMPLES = [0.1, 0.5, 1];
const LOOK_MS = 100;
/** Growth of the process from half of the claims to all of them: what the garbage collector has not got to. */
const MOST_GROWTH_BYTES = 32 * 2 ** 20;
/** Of the process's heap, MiB: where memory is plenty, garbage is left lying about instead. */
const HEAP_MIB = 72;
/** Nothing has happened for so long: the benchmark ends with what is missing. */
const STALLED_MS = 60_000;

interface Sample {
  readonly checked: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly entries: number;
}

async function measure({ claims: count = CLAIMS }: BenchOptions): Promise<Measured> {
  const folder = temporaryFolder();
  const bench = await openLoadChain(folder.path);
  let daemon: Daemon | undefined;
  try {
    daemon = startDaemon({
      env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
      name: "challenger",
      args: [
        ...["challenger", "defend", "--port", "0", "--attention-seconds", "0"],
        ...["--models", join(projectRoot, "models")],
      ],
      key: bench.keyOf(CHALLENGER_INDEX),
      folder: folder.path,
      rpcUrl: bench.rpcUrl,
      deployment: bench.deploymentPath,
    });
    const { url } = await daemon.logged("challenger is up");
    const watch = watchMetrics(String(url), count);
    const started = performance.now();
    const { filed, minedAtMs } = await fileAll(bench, count);
    const fileSeconds = (performance.now() - started) / 1_000;
    const samples = await watch;
    const checkSeconds = (performance.now() - started) / 1_000;
    await endDisputes(bench, String(url), filed.filter(({ isWrong }) => isWrong).length);
    const verdicts = verdictsIn(daemon.log);
    const events = await allEvents(bench);
    return report({ filed, minedAtMs, verdicts, events, samples, fileSeconds, checkSeconds });
  } finally {
    await daemon?.stop();
    await bench.stop();
    folder.remove();
  }
}

/** Claims come as fast as the chain takes them; each block also holds the requests of the next. */
async function fileAll(bench: LoadChain, count: number) {
  const filed: FiledClaim[] = [];
  const minedAtMs = new Map<string, number>();
  const numbers = (from: number) =>
    Array.from({ length: Math.max(0, Math.min(CLAIMS_PER_BLOCK, count - from)) }, (_, i) => from + i);
  const askAll = (from: number) => Promise.all(numbers(from).map((i) => bench.ask(i)));
  let requests = await askAll(0);
  await bench.mine();
  for (let from = 0; from < count; from += CLAIMS_PER_BLOCK) {
    const isWrong = (i: number) => i % WRONG_EVERY === 0;
    const claims = requests.map((request, at) => bench.claim(from + at, request, isWrong(from + at)));
    const block = await Promise.all(claims);
    requests = await askAll(from + CLAIMS_PER_BLOCK);
    await bench.mine();
    const now = Date.now();
    for (const { id } of block) minedAtMs.set(id, now);
    filed.push(...block);
  }
  return { filed, minedAtMs };
}

/** Looks until all claims are checked, or nothing moves any more. */
async function watchMetrics(url: string, count: number): Promise<readonly Sample[]> {
  const wanted = SAMPLES.map((share) => Math.round(share * count));
  const samples: Sample[] = [];
  let [last, lastMs] = [0, Date.now()];
  while (samples.length < wanted.length && Date.now() - lastMs < STALLED_MS) {
    const found = await fetchMetrics(url);
    const of = (verdict: string) =>
      found.get(`assay_challenger_claims_checked_total{verdict="${verdict}"}`) ?? 0;
    const checked = of("right") + of("wrong");
    if (checked > last) [last, lastMs] = [checked, Date.now()];
    while (samples.length < wanted.length && checked >= (wanted[samples.length] as number)) {
      samples.push({
        checked,
        rssBytes: found.get("process_resident_memory_bytes") ?? Number.NaN,
        heapBytes: found.get("nodejs_heap_size_used_bytes") ?? Number.NaN,
        entries: found.get("assay_challenger_entries_held") ?? Number.NaN,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return samples;
}

/** Makes blocks until every wrong claim has a ticket, lets the provers' time pass, and again until all have fallen. */
async function endDisputes(bench: LoadChain, url: string, wrong: number): Promise<void> {
  const until = async (series: string) => {
    for (const end = Date.now() + STALLED_MS; Date.now() < end; ) {
      await bench.mine();
      if (((await fetchMetrics(url)).get(series) ?? 0) >= wrong) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };
  await until('assay_challenger_moves_total{move="challenge",done="true"}');
  await bench.passTime(ANSWER_SECONDS + 1);
  await until('assay_challenger_disputes_over_total{ending="fallen"}');
}

interface Verdict {
  readonly claim: string;
  readonly isWrong: boolean;
  readonly atMs: number;
}

function verdictsIn(log: string): Verdict[] {
  const messages = { "claim is right": false, "claim is wrong": true } as const;
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes('"claim is '))
    .map((line) => JSON.parse(line) as { msg: keyof typeof messages; claim: string; time: number })
    .map(({ msg, claim, time }) => ({ claim, isWrong: messages[msg], atMs: time }));
}

async function allEvents({ chain }: LoadChain): Promise<ChainEvent[]> {
  const follower = new EventFollower(chain);
  const events: ChainEvent[] = [];
  for (;;) {
    const batch = await follower.next();
    if (batch?.kind !== "blocks") return events;
    events.push(...batch.events);
    follower.advance(batch);
  }
}

interface Observed {
  readonly filed: readonly FiledClaim[];
  readonly minedAtMs: ReadonlyMap<string, number>;
  readonly verdicts: readonly Verdict[];
  readonly events: readonly ChainEvent[];
  readonly samples: readonly Sample[];
  readonly fileSeconds: number;
  readonly checkSeconds: number;
}

function report(observed: Observed): Measured {
  const { filed, minedAtMs, verdicts, events, samples, fileSeconds, checkSeconds } = observed;
  const judged = new Map(verdicts.map(({ claim, isWrong }) => [claim, isWrong]));
  const missed = filed.filter(({ id, isWrong }) => judged.get(id) !== isWrong).length;
  const wrong = new Set<string>(filed.filter(({ isWrong }) => isWrong).map(({ id }) => id));
  const about = (name: ChainEvent["name"]) =>
    events.filter((event) => event.name === name).map(({ args }) => (args as { claimId: string }).claimId);
  const fallen = about("Fell").filter((id) => wrong.has(id)).length;
  const accused = about("Challenged").filter((id) => !wrong.has(id)).length;
  const onChain = about("Claimed").length;
  const latencies = verdicts
    .map(({ claim, atMs }) => (atMs - (minedAtMs.get(claim) ?? Number.NaN)) / 1_000)
    .sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.ceil(share * latencies.length) - 1] ?? Number.NaN;
  const [half, end] = [samples.at(-2), samples.at(-1)];
  const growth = (end?.rssBytes ?? Number.NaN) - (half?.rssBytes ?? Number.NaN);
  const figures: Figure[] = [
    exactly(`claims on the chain, from ${PROVERS} provers`, onChain, filed.length),
    exactly("claims missed or judged wrongly", missed, 0),
    exactly(`wrong claims that fell`, fallen, wrong.size),
    exactly("right claims that were challenged", accused, 0),
    { name: "claims filed a second", value: grouped(Math.round(filed.length / fileSeconds)) },
    {
      name: "claims checked a second, from the first one filed to the last verdict",
      value: grouped(Math.round(verdicts.length / checkSeconds)),
    },
    ...([0.5, 0.95, 1] as const).map((share) => ({
      name: `block to verdict, ${share === 1 ? "longest" : share === 0.5 ? "median" : "95 %"}`,
      value: `${at(share).toFixed(2)} s`,
    })),
    ...samples.map(({ checked, rssBytes, heapBytes, entries }) => ({
      name: `memory after ${grouped(checked)} claims`,
      value: `${megabytes(rssBytes)}, of it ${megabytes(heapBytes)} in objects; ${grouped(entries)} entries about claims`,
    })),
    {
      name: "memory gained from half of the claims to all",
      value: megabytes(growth),
      target: `≤ ${megabytes(MOST_GROWTH_BYTES)}`,
      isMet: growth <= MOST_GROWTH_BYTES,
    },
  ];
  return { figures, rows: samples };
}

export const LOAD_PART: Part = {
  name: "load",
  title: "One challenger and 10,000 claims",
  method: `One \`assay challenger defend\` process with its default settings follows a local chain on which ${PROVERS} provers' accounts claim distinct headlines of \`models/sentiment\`, ${CLAIMS_PER_BLOCK} a block, blocks as soon as they are full; chain, feeder and challenger share the machine. Every ${WRONG_EVERY}th output has one bit turned; their provers do not answer, so they fall by the missing trace. Verdicts are counted by the process's log, falls by the chain's events. Memory is the resident set of the process without the child that runs onnxruntime, its heap limited to ${HEAP_MIB} MiB; a claim that was found right leaves it at the next block, and the data folder keeps it while it may be disputed.`,
  run: measure,
};
