/** Groth16 proofs of a model, as provers have them made. */
import { SILENT } from "../../base/log.ts";
import { workerProofs } from "../../cli/worker-proofs.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { PROOF_BYTES } from "../../protocol/rules/proof/groth16.ts";
import { proofInput } from "../../protocol/service/workers/orders.ts";
import { developmentKeys } from "../../prover/proof/groth16/keys.ts";
import { SnarkjsProver } from "../../prover/proof/groth16/snark/prover.ts";
import { measured, type Task } from "./task.ts";

/** For the binding any number does. */
const BINDING = 1n;
/** Orders under way for each worker. */
const ORDERS_A_WORKER = 2;

/** Makes the model's development keys first.
 *  @param keys folder that workers take them from */
export async function proofsOf(name: string, model: LoadedModel, keys: string, count: number): Promise<Task> {
  await developmentKeys(model.model, keys);
  const statements = Array.from({ length: count }, (_, i) => ({
    ...{ binding: BINDING, calldata: selfTestCalldata(model.model.program, model.selector, i + 1) },
  }));
  return {
    name: `Groth16 proofs: ${name}`,
    alone: async () => {
      const canonical = new CanonicalPool(new Map([[model.modelId, model]]), { threads: 1 });
      const prover = new SnarkjsProver();
      const prove = workerProofs({ keys, load: async () => model, canonical, prover, log: SILENT });
      const { signal } = new AbortController();
      const one = async (at: number) => {
        const statement = statements[at] as (typeof statements)[number];
        await prove(model.modelId, statement, signal);
      };
      try {
        await one(0);
        return await measured(count, { together: 1, atOnce: ORDERS_A_WORKER }, one);
      } finally {
        prover.close();
        canonical.close();
      }
    },
    byWorkers: async (runs, workers) => {
      const one = async (at: number) => {
        const input = proofInput(statements[at] as (typeof statements)[number]);
        const [answer] = await runs.ask({ task: "groth16", model: model.modelId, input, count: 1 });
        if (answer?.content.length !== PROOF_BYTES) throw new Error("a proof was not made");
      };
      // Each has opened its keys.
      await Promise.all(Array.from({ length: 2 * workers }, () => one(0)));
      return measured(count, { together: 1, atOnce: ORDERS_A_WORKER * workers }, one);
    },
  };
}
