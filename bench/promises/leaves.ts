/** One `assay challenger` process and the leaves of many batches: how many a second it runs again, in which memory. */

import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { PROMISE_LIMITS } from "../../protocol/rules/promises/limits.ts";
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
import { type Watched, watchLeaves } from "./watch-leaves.ts";

const LEAVES = 98 * PROMISE_LIMITS.maxLeaves;
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
async function measure({ claims: leaves = LEAVES }: BenchOptions): Promise<Measured> {
  const batches = Math.ceil(leaves / PROMISE_LIMITS.maxLeaves);
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
      const planted = i % WRONG_EVERY === 0 ? [(i * 37) % PROMISE_LIMITS.maxLeaves] : [];
      wrong += planted.length;
      const { batch, posting } = made.batch(
        chain.account,
        i * PROMISE_LIMITS.maxLeaves,
        PROMISE_LIMITS.maxLeaves,
        planted,
        WEEK,
      );
      const { status } = await sender.send(actions.post(batch, posting));
      if (status !== "sent") throw new Error(`batch ${i} is not on the chain: ${status}`);
    }
    const daemon = system.daemon(
      "challenger",
      ROLES.challenger,
      ["challenger", "watch", "--port", "0", "--attention-seconds", "0"],
      { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` } },
    );
    return report(await watchLeaves(daemon, batches * PROMISE_LIMITS.maxLeaves), batches, wrong);
  } finally {
    await system.stop();
  }
}

function report(
  { startedMs, samples, right, wrong, cpuSeconds }: Watched,
  batches: number,
  planted: number,
): Measured {
  const count = batches * PROMISE_LIMITS.maxLeaves;
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
  method: `One \`assay challenger watch\` process with its default settings starts on a chain on which ${LEAVES / PROMISE_LIMITS.maxLeaves} full batches of distinct headlines of \`models/sentiment\` stand, one in ${WRONG_EVERY} with a wrong leaf, and runs every leaf again from the events' data; the chain is on the same machine. Leaves are counted by the process's metrics, time runs from its first line of log on. Memory is the resident set of the process without the child that runs onnxruntime, its heap limited to ${HEAP_MIB} MiB.`,
  run: measure,
};
