/** One `assay challenger` process and the leaves of many batches: how many a second it runs again, in which memory. */
import type { Daemon } from "../../cli/demo/processes.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { MAX_LEAVES } from "../../protocol/rules/promises/batch.ts";
import { fetchMetrics } from "../../test/support/exposition.ts";
import { sentimentPromises } from "../../test/support/promises/sentiment-promises.ts";
import { ROLES, startSystem } from "../../test/support/system.ts";
import { bundleProgram } from "../../tools/bundle.ts";
import {
  type BenchOptions,
  exactly,
  type Figure,
  grouped,
  type Measured,
  megabytes,
  type Part,
} from "../report.ts";

const LEAVES = 98 * MAX_LEAVES;
/** Batches of which one has a wrong leaf. */
const WRONG_EVERY = 20;
/** Long: no window ends while leaves are checked. */
const ANSWER_SECONDS = 3_600;
const WEEK = 7 * 86_400;
const STAKE = 1_000n * 10n ** 18n;
const LEAST_A_SECOND = 2_000;
/** Of the process's heap, MiB: where memory is plenty, garbage is left lying about instead. */
const HEAP_MIB = 128;
const MOST_GROWTH_BYTES = 32 * 2 ** 20;
/** Shares of the leaves at which memory is looked at. */
const SAMPLES = [0.1, 0.5, 1];
const LOOK_MS = 20;
/** Nothing has happened for so long: the benchmark ends with what is missing. */
const STALLED_MS = 60_000;

interface Sample {
  readonly checked: number;
  readonly atMs: number;
  readonly rssBytes: number;
}

async function measure({ claims: leaves = LEAVES }: BenchOptions): Promise<Measured> {
  const batches = Math.ceil(leaves / MAX_LEAVES);
  // Else the daemon makes it, within its own heap.
  await bundleProgram();
  const system = await startSystem({
    ...{ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "on-demand" },
  });
  try {
    const { chain, sender } = await system.open("poster", ROLES.cheat);
    const at = promisesOf(chain.deployment);
    const actions = new PromiseActions(at, chain.game);
    const made = sentimentPromises(system.model("sentiment"), at);
    await sender.send(actions.deposit(chain.account.address, STAKE, "stake"));
    let wrong = 0;
    for (let i = 0; i < batches; i++) {
      const planted = i % WRONG_EVERY === 0 ? [(i * 37) % MAX_LEAVES] : [];
      wrong += planted.length;
      const { batch, posting } = made.batch(chain.account, i * MAX_LEAVES, MAX_LEAVES, planted, WEEK);
      const { status } = await sender.send(actions.post(batch, posting));
      if (status !== "sent") throw new Error(`batch ${i} is not on the chain: ${status}`);
    }
    const daemon = system.daemon(
      "challenger",
      ROLES.challenger,
      ["challenger", "watch", "--port", "0", "--attention-seconds", "0"],
      { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` } },
    );
    return report(await watch(daemon, batches * MAX_LEAVES), batches, wrong);
  } finally {
    await system.stop();
  }
}

interface Watched {
  readonly startedMs: number;
  readonly samples: readonly Sample[];
  readonly right: number;
  readonly wrong: number;
  /** processor time of the process since it was up, without its child's */
  readonly cpuSeconds: number;
}

/** Looks until all leaves are checked, or nothing moves any more. */
async function watch(daemon: Daemon, count: number): Promise<Watched> {
  const url = String((await daemon.logged("challenger is up")).url);
  const startedMs = performance.now();
  const wanted = SAMPLES.map((share) => Math.round(share * count));
  const samples: Sample[] = [];
  const cpuOf = (found: ReadonlyMap<string, number>) => found.get("process_cpu_seconds_total") ?? Number.NaN;
  const atStart = cpuOf(await fetchMetrics(url));
  let [right, wrong, last, movedMs, cpuSeconds] = [0, 0, 0, startedMs, 0];
  while (samples.length < wanted.length && performance.now() - movedMs < STALLED_MS) {
    const found = await fetchMetrics(url);
    const of = (verdict: string) =>
      found.get(`assay_challenger_leaves_checked_total{verdict="${verdict}"}`) ?? 0;
    [right, wrong, cpuSeconds] = [of("right"), of("wrong"), cpuOf(found) - atStart];
    const [checked, atMs] = [right + wrong, performance.now()];
    if (checked > last) [last, movedMs] = [checked, atMs];
    while (samples.length < wanted.length && checked >= (wanted[samples.length] as number)) {
      samples.push({ checked, atMs, rssBytes: found.get("process_resident_memory_bytes") ?? Number.NaN });
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { startedMs, samples, right, wrong, cpuSeconds };
}

function report(
  { startedMs, samples, right, wrong, cpuSeconds }: Watched,
  batches: number,
  planted: number,
): Measured {
  const count = batches * MAX_LEAVES;
  const end = samples.at(-1);
  const seconds = ((end?.atMs ?? Number.NaN) - startedMs) / 1_000;
  const aSecond = Math.round(count / seconds);
  const growth = (end?.rssBytes ?? Number.NaN) - (samples.at(-2)?.rssBytes ?? Number.NaN);
  const figures: Figure[] = [
    exactly(`leaves checked, of ${batches} batches`, right + wrong, count),
    exactly("wrong leaves found", wrong, planted),
    {
      name: "leaves run again a second, from the process's start on",
      value: grouped(aSecond),
      target: `≥ ${grouped(LEAST_A_SECOND)}`,
      isMet: aSecond >= LEAST_A_SECOND,
    },
    {
      name: "leaves a second of the process's own processor time",
      value: grouped(Math.round(count / cpuSeconds)),
    },
    ...samples.map(({ checked, rssBytes }) => ({
      name: `memory after ${grouped(checked)} leaves`,
      value: megabytes(rssBytes),
    })),
    {
      name: "memory gained from half of the leaves to all",
      value: megabytes(growth),
      target: `≤ ${megabytes(MOST_GROWTH_BYTES)}`,
      isMet: growth <= MOST_GROWTH_BYTES,
    },
  ];
  const rows = figures.map(({ name: figure, value, target, isMet: met }) => ({ figure, value, target, met }));
  return { figures, rows };
}

export const LEAVES_PART: Part = {
  name: "leaves",
  title: "One challenger and 100,352 leaves",
  method: `One \`assay challenger watch\` process with its default settings starts on a chain on which ${LEAVES / MAX_LEAVES} full batches of distinct headlines of \`models/sentiment\` stand, one in ${WRONG_EVERY} with a wrong leaf, and runs every leaf again from the events' data; the chain is on the same machine. Leaves are counted by the process's metrics, time runs from its first line of log on. Memory is the resident set of the process without the child that runs onnxruntime, its heap limited to ${HEAP_MIB} MiB.`,
  run: measure,
};
