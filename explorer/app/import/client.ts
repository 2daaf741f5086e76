import type { Plan } from "../../../protocol/chain/plan/plan.ts";
import { LazyWorker } from "../lazy-worker.ts";
import type { Deployable, ImportJob, ImportOutcome, PlanWishes } from "./forms.ts";
import type { Importer } from "./worker.ts";

const importer = new LazyWorker<Importer>(
  "The importer",
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
);

export const importFiles = (job: ImportJob, signal: AbortSignal): Promise<ImportOutcome> =>
  importer.call((remote) => remote.import(job), signal);

/** Of the model that was imported last. */
export const planOf = (wishes: PlanWishes): Promise<Plan> => importer.call((remote) => remote.plan(wishes));
export const archiveOf = (): Promise<Uint8Array> => importer.call((remote) => remote.archive());
export const deployableOf = (): Promise<Deployable> => importer.call((remote) => remote.deployable());
