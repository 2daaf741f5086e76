/** A challenger's process at its leaves: how far it is, in which memory, by its own metrics. */
import type { Daemon } from "../../cli/demo/processes.ts";
import { fetchMetrics } from "../../test/support/exposition.ts";

/** Shares of the leaves at which memory is looked at. */
const SAMPLES = [0.1, 0.5, 1];
const LOOK_MS = 20;
/** Nothing has happened for so long: whoever waits ends with what is missing. */
export const STALLED_MS = 300_000;

export interface Sample {
  readonly checked: number;
  readonly atMs: number;
  readonly rssBytes: number;
}

export interface Watched {
  readonly url: string;
  readonly startedMs: number;
  readonly samples: readonly Sample[];
  readonly right: number;
  readonly wrong: number;
  /** processor time of the process since it was up, without its child's */
  readonly cpuSeconds: number;
}

/** Looks until all leaves are checked, or nothing moves any more. */
export async function watchLeaves(daemon: Daemon, count: number): Promise<Watched> {
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
  return { url, startedMs, samples, right, wrong, cpuSeconds };
}
