/** `assay worker` */
import { hostname } from "node:os";
import type { Command } from "commander";
import { z } from "zod";
import { BaseError } from "../base/errors.ts";
import { CanonicalPool } from "../inference/runtime/canonical-pool.ts";
import {
  type Config,
  DATABASE_SETTINGS,
  integer,
  list,
  loadConfig,
  type Settings,
  text,
} from "../protocol/service/config.ts";
import { fewConnections, listen } from "../protocol/service/http/listen.ts";
import { metricsApp } from "../protocol/service/metrics/http.ts";
import { Metrics } from "../protocol/service/metrics/metrics.ts";
import type { ProofMaker } from "../protocol/service/workers/worker.ts";
import { openGroth16Prover } from "../prover/proof/groth16/snark/native.ts";
import { withSettings } from "./chain.ts";
import { stopSignal } from "./daemon.ts";
import { configuredDatabase } from "./database-options.ts";
import { EZKL_SETTINGS, ezklOptionsIn } from "./ezkl-options.ts";
import { createLogger } from "./log.ts";
import { refuseArgument } from "./output.ts";
import { KEY_FOLDER } from "./proof/setup.ts";
import { workerEzkl } from "./worker-ezkl.ts";
import { WorkerModels } from "./worker-models.ts";
import { workerProofs } from "./worker-proofs.ts";

const provers = list.refine(
  (urls) => urls.every((url) => z.url({ protocol: /^https?$/ }).safeParse(url).success),
  "must be http or https URLs, separated by commas",
);

/** How long orders that are under way may still take at a stop, ms. */
const DRAIN_MS = 30_000;

export const WORKER_SETTINGS = {
  name: {
    schema: text.max(200, "must have at most 200 characters"),
    description:
      "by which its answers are told from those of others with its login; absent: host and process",
  },
  concurrency: { schema: integer(1, 256), default: 1, description: "orders at once, each in a thread" },
  cache: {
    schema: text,
    default: "worker-models",
    isPath: true,
    description: "folder of model folders, to which those that it lacks are added by their ids",
  },
  sources: {
    schema: provers,
    default: "",
    description:
      "base URLs of provers, separated by commas, from which models are taken; each is checked by its id",
  },
  keys: {
    schema: text,
    default: KEY_FOLDER,
    isPath: true,
    description: "folder of proving keys; an order for a proof whose key it lacks is refused",
  },
  groth16Prover: {
    schema: text,
    isPath: true,
    description: "path of assay-prove, which makes Groth16 proofs; absent: snarkjs",
  },
  ...EZKL_SETTINGS,
  ezkl: {
    schema: text,
    isPath: true,
    description:
      "folder that `assay proof ezkl install` filled; absent: orders for proofs by ezkl are refused",
  },
  host: { schema: text, default: "127.0.0.1", description: "address that --port listens on" },
  port: {
    schema: integer(0, 65_535),
    description: "port of /metrics, /healthz and /livez, 0 for any; absent: none",
  },
} as const satisfies Settings;

export function addWorkerCommand(program: Command): void {
  const command = program
    .command("worker")
    .description(
      "run models and make proofs for the provers and challengers of a database that ask with --workers",
    );
  withSettings(withSettings(command, DATABASE_SETTINGS), WORKER_SETTINGS).action(
    async (_options: object, self: Command) => {
      const settings = loadConfig(
        WORKER_SETTINGS,
        { flags: self.optsWithGlobals(), env: process.env },
        "worker",
      );
      const terms = configuredDatabase(self);
      if (terms === undefined)
        refuseArgument("--database", undefined, "set, a worker takes its orders from there");
      const log = createLogger("worker", self);
      const signal = stopSignal(log);
      const { concurrency, cache, sources, keys, host, port } = settings;
      const name = settings.name ?? `${hostname()}-${process.pid}`;
      const { Worker } = await import("../protocol/service/workers/worker.ts");
      const { addOwnMetrics } = await import("../protocol/service/metrics/worker-metrics.ts");
      const pool = new CanonicalPool(new Map(), { threads: concurrency });
      const models = new WorkerModels({ cache, sources, pool, log });
      const metrics = new Metrics();
      const onEnd = addOwnMetrics(metrics, () => worker);
      const load = (model: string) => models.load(model);
      const prover = openGroth16Prover(settings.groth16Prover);
      const prove = {
        groth16: workerProofs({ keys, load, canonical: pool, prover, log }),
        ezkl: ezklProofs(settings, models),
      };
      const own = { terms, name, concurrency, canonical: pool, drainMs: DRAIN_MS };
      const worker = new Worker({ ...own, load, prove, onEnd, log });
      try {
        const health = () => ({
          status: worker.isUp ? "ok" : "database-unreachable",
          running: worker.running,
        });
        const server =
          port === undefined
            ? undefined
            : await listen(metricsApp(metrics, log, health), host, port, fewConnections());
        log.info({ worker: name, database: terms.name, url: server?.url }, "worker is up");
        await worker.run(signal);
        await server?.close();
        log.info({}, "worker stopped");
      } finally {
        prover.close();
        pool.close();
      }
    },
  );
}

/** @returns what refuses each order by name where the machine has no ezkl */
function ezklProofs(settings: Config<typeof EZKL_SETTINGS>, models: WorkerModels): ProofMaker {
  const { ezkl } = settings;
  if (ezkl !== undefined)
    return workerEzkl(ezklOptionsIn(ezkl, settings), (model) => models.loadProofModel(model));
  return async () => {
    throw new BaseError({
      code: "EZKL_MISSING",
      shortMessage: "This worker makes no proofs by ezkl.",
      nextStep: "Run `assay proof ezkl install` on its machine, and name the folder with --ezkl.",
    });
  };
}
