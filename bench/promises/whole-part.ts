/** 250,000 signed answers, the way of all of them: figures of `wholeWay`. */
import { PROMISE_LIMITS } from "../../protocol/rules/promises/limits.ts";
import {
  type BenchOptions,
  exactly,
  type Figure,
  grouped,
  type Measured,
  megabytes,
  type Part,
} from "../report.ts";
import { INPUTS, REQUESTERS } from "./together-load.ts";
import { type WholeWay, WRONG_LEAVES, wholeWay } from "./whole-way.ts";

/** Enough that memory is looked at when the heap has its size. */
const ANSWERS = 250_000;
const CHEAT = { cheatBatches: 8, cheatLeaves: PROMISE_LIMITS.maxLeaves, cheatClaims: 16 };
const HEAP_MIB = 128;
const LEAST_A_SECOND = 2_000;
const MOST_GROWTH_BYTES = 32 * 2 ** 20;

async function measure({ claims: answers = ANSWERS }: BenchOptions): Promise<Measured> {
  const whole = await wholeWay({ answers, ...CHEAT, heapMib: HEAP_MIB });
  const figures = [...figuresOf(whole, answers), ...memoryOf(whole)];
  const rows = figures.map(({ name: figure, value, target, isMet: met }) => ({ figure, value, target, met }));
  return { figures, rows };
}

function figuresOf(whole: WholeWay, answers: number): Figure[] {
  const { signed, posted, leaves, watched, leavesPlanted, claimsPlanted } = whole;
  const { samples, startedMs, right, wrong, cpuSeconds } = watched;
  const seconds = ((samples.at(-1)?.atMs ?? Number.NaN) - startedMs) / 1_000;
  const ms = [signed.median, signed.p95, signed.p99].map((each) => each.toFixed(1));
  return [
    exactly("signed answers that were refused", signed.refused, 0),
    atLeast(`signed answers a second, ${INPUTS} inputs a request, ${REQUESTERS} connections`, signed.aSecond),
    { name: "… median, 95 % and 99 % of a request", value: `${ms.join(", ")} ms` },
    exactly(`answers on the chain, in ${grouped(posted.batches)} batches`, posted.leaves, answers),
    { name: "… the last of them after the last answer", value: `${posted.seconds.toFixed(1)} s` },
    exactly("leaves run again from the chain's data, the cheat's too", right + wrong, leaves),
    atLeast("… a second, from the challenger's start on", leaves / seconds),
    {
      name: "… a second of the challenger's processor time",
      value: grouped(Math.round(leaves / cpuSeconds)),
    },
    exactly("wrong leaves that fell", whole.leavesFallen, leavesPlanted),
    exactly("wrong signed claims that fell", whole.claimsFallen, claimsPlanted),
    exactly("right answers that were called wrong or opened", whole.rightAccused, 0),
  ];
}

function memoryOf({ watched: { samples } }: WholeWay): Figure[] {
  const [half, end] = [samples.at(-2), samples.at(-1)];
  const growth = (end?.rssBytes ?? Number.NaN) - (half?.rssBytes ?? Number.NaN);
  return [
    ...samples.map(({ checked, rssBytes }) => ({
      name: `the challenger's memory after ${grouped(checked)} leaves`,
      value: megabytes(rssBytes),
    })),
    {
      name: "… gained from half of the leaves to all",
      value: megabytes(growth),
      target: `≤ ${megabytes(MOST_GROWTH_BYTES)}`,
      isMet: growth <= MOST_GROWTH_BYTES,
    },
  ];
}

const atLeast = (name: string, aSecond: number): Figure => ({
  ...{ name, value: grouped(Math.round(aSecond)), target: `≥ ${grouped(LEAST_A_SECOND)}` },
  isMet: aSecond >= LEAST_A_SECOND,
});

export const WHOLE_PART: Part = {
  name: "promises-load",
  title: `${grouped(ANSWERS)} signed answers, posted and checked`,
  method: `One \`assay prover --sign on --batch-seconds 2\` signs ${grouped(ANSWERS)} different headlines for \`models/sentiment\` over HTTP/1.1 keep-alive, ${INPUTS} in a request, and posts them in batches. A cheat posts ${CHEAT.cheatBatches} batches of ${grouped(CHEAT.cheatLeaves)} with ${WRONG_LEAVES} wrong leaves each (a bit, a byte, another's output; the first, the last and one between), and signs ${CHEAT.cheatClaims} answers, half of them wrong. Then one \`assay challenger defend\` starts, its heap limited to ${HEAP_MIB} MiB, runs all leaves again from the chain's data, takes the signed claims over HTTP, and opens and disputes; the cheat answers nothing. Chain, client and daemons share the machine.`,
  run: measure,
};
