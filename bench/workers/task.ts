/** Something that workers do, and a daemon without any. */
import type { WorkerRuns } from "../../protocol/service/workers/runs.ts";

export interface Task {
  /** in the table */
  readonly name: string;
  /** @returns how many a second are done in this process */
  alone(): Promise<number>;
  /** @param workers how many live @returns how many a second they do */
  byWorkers(runs: WorkerRuns, workers: number): Promise<number>;
}

/** Does a number of things, some at once.
 *  @param work does some of them, from one on @returns how many a second were done */
export async function measured(
  count: number,
  { together, atOnce }: { readonly together: number; readonly atOnce: number },
  work: (from: number, to: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const since = performance.now();
  const worker = async () => {
    for (let from = next; from < count; from = next) {
      next = Math.min(from + together, count);
      await work(from, next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (1_000 * count) / (performance.now() - since);
}
