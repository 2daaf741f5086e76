/** How daemons ask workers. */
import { z } from "zod";
import type { Logger } from "../base/log.ts";
import { isQuick } from "../inference/executor/quick.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import { type Config, integer, type Settings } from "../protocol/service/config.ts";
import type { DatabaseTerms } from "../protocol/service/postgres/terms.ts";
import type { AskedWorkers } from "../protocol/service/workers/runs.ts";
import { refuseArgument } from "./output.ts";

export const WORKERS_SETTINGS = {
  workers: {
    schema: z.enum(["off", "large", "all"], "must be off, large or all"),
    default: "off",
    description:
      "models about which the workers of the database are asked: off, those that take longer to run than to send (large), or all",
  },
  workerSeconds: {
    schema: integer(1, 600),
    default: 10,
    description: "how long workers have for an answer before this daemon runs the model itself, seconds",
  },
} as const satisfies Settings;

/** Of those that prove. */
export const PROOF_WORKERS_SETTINGS = {
  workerProofSeconds: {
    schema: integer(1, 3_600),
    default: 60,
    description:
      "how long workers have for a proof before this daemon makes it itself, seconds; they are asked where --workers is not off",
  },
} as const satisfies Settings;

/** @returns undefined where none are asked */
export async function openWorkers(
  { workers, workerSeconds }: Config<typeof WORKERS_SETTINGS>,
  terms: DatabaseTerms | undefined,
  models: readonly LoadedModel[],
  log: Logger,
): Promise<AskedWorkers | undefined> {
  if (workers === "off") return undefined;
  if (terms === undefined)
    refuseArgument("--workers", workers, "off without --database, through which workers are asked");
  const { WorkerRuns } = await import("../protocol/service/workers/runs.ts");
  const asked = models.filter(({ model }) => workers === "all" || !isQuick(model.program));
  const ids = new Set<string>(asked.map(({ modelId }) => modelId));
  return {
    runs: new WorkerRuns({ terms, limitMs: 1_000 * workerSeconds, log }),
    asksFor: (model) => ids.has(model),
  };
}
