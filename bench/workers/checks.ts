/** Outputs of a model, as challengers have them checked. */
import { equalBytes } from "../../base/bytes.ts";
import { runsLike } from "../../inference/executor/quick.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { joinBytes, splitBytes } from "../../protocol/service/workers/orders.ts";
import type { WorkerRuns } from "../../protocol/service/workers/runs.ts";
import { measured, type Task } from "./task.ts";

/** Leaves in one order at most, as a challenger sends them. */
export const MOST_TOGETHER = 32;
/** Orders under way for each worker, so that none waits for the next. */
const ORDERS_A_WORKER = 4;

export function checksOf(name: string, model: LoadedModel, count: number): Task {
  const { program } = model.model;
  const inputs = Array.from({ length: count }, (_, i) => selfTestCalldata(program, model.selector, i + 1));
  return {
    name: `checks: ${name}`,
    alone: async () => {
      const pool = new CanonicalPool(new Map([[model.modelId, model]]), { threads: 1 });
      try {
        await pool.output(model.modelId, inputs[0] as Uint8Array);
        return await measured(count, { together: 1, atOnce: count }, async (at) => {
          await pool.output(model.modelId, inputs[at] as Uint8Array);
        });
      } finally {
        pool.close();
      }
    },
    byWorkers: async (runs, workers) => {
      const check = (part: readonly Uint8Array[]) => checked(runs, model, part, Math.min(2, workers));
      // Each has loaded the model.
      for (let i = 0; i < 2 * workers; i++) await check(inputs.slice(0, 1));
      const together = runsLike(program, MOST_TOGETHER);
      const atOnce = ORDERS_A_WORKER * workers;
      return measured(count, { together, atOnce }, (from, to) => check(inputs.slice(from, to)));
    },
  };
}

/** Of one worker its word; of more of them what two say. */
async function checked(
  runs: WorkerRuns,
  { modelId }: LoadedModel,
  part: readonly Uint8Array[],
  count: number,
): Promise<void> {
  const answers = await runs.ask({ task: "outputs", model: modelId, input: joinBytes(part), count });
  const [first, second = first] = answers.map(({ content }) => content);
  if (first === undefined || second === undefined || answers.length < count)
    throw new Error("an order was not answered");
  if (!equalBytes(first, second) || splitBytes(first)?.length !== part.length)
    throw new Error("two workers differ");
}
