/** `assay prover` */
import type { Command } from "commander";
import { z } from "zod";
import type { Logger } from "../base/log.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import { requireAccount, type SigningChain } from "../protocol/chain/sender.ts";
import {
  address,
  type Config,
  DATABASE_SETTINGS,
  integer,
  list,
  loadConfig,
  type Settings,
  text,
  wei,
} from "../protocol/service/config.ts";
import { confirmedHere } from "../protocol/service/workers/confirm.ts";
import type { AskedWorkers } from "../protocol/service/workers/runs.ts";
import { DEFAULT_DELIVERY_TRIES } from "../prover/failed-deliveries.ts";
import type { FastPath } from "../prover/fast-path.ts";
import { ExecutionSource } from "../prover/lanes/execution.ts";
import { EzklSource } from "../prover/lanes/ezkl.ts";
import { Groth16Source } from "../prover/lanes/groth16.ts";
import type { TruthSource } from "../prover/lanes/source.ts";
import { type ProverOptions, runProver } from "../prover/main.ts";
import type { EzklOptions } from "../prover/proof/ezkl/keys.ts";
import { openGroth16Prover } from "../prover/proof/groth16/snark/native.ts";
import { honestRuns, type Runs } from "../prover/runs.ts";
import { DEFAULT_FORGET_AFTER } from "../prover/watch.ts";
import { besideExplorer, EXPLORER_PORT_SETTING } from "./beside-explorer.ts";
import { CALLER_SETTINGS, callerLimits } from "./caller-limits.ts";
import { chainConfig, confirmationsOn, openChain, withChain, withSettings } from "./chain.ts";
import { ENDING_BUDGET_SETTING, loadModels, MODELS_SETTING, stopSignal } from "./daemon.ts";
import { configuredDatabase } from "./database-options.ts";
import { warnOfKey } from "./doctor/key.ts";
import { openEngine, withEzkl } from "./engine.ts";
import { EZKL_SETTINGS, ezklOptions } from "./ezkl-options.ts";
import { createLogger } from "./log.ts";
import { refuseArgument } from "./output.ts";
import { PAYMENT_SETTINGS, paymentTerms } from "./payment-options.ts";
import { KEY_FOLDER } from "./proof/setup.ts";
import { SIGNING_SETTINGS, signingOptions } from "./signing-options.ts";
import { SWEEP_SETTINGS, sweepTerms } from "./sweep-options.ts";
import { openWorkers, PROOF_WORKERS_SETTINGS, WORKERS_SETTINGS } from "./workers-options.ts";

/** As browsers write them. */
const origins = list.refine(
  (parts) => parts.every((part) => part === "*" || (URL.canParse(part) && new URL(part).origin === part)),
  "must be origins such as https://app.example, separated by commas, or *",
);

export const PROVER_SETTINGS = {
  models: MODELS_SETTING,
  host: { schema: text, default: "127.0.0.1", description: "address that HTTP listens on" },
  port: { schema: integer(0, 65_535), default: 8_787, description: "port of HTTP, 0 for any" },
  maxWaitSeconds: {
    schema: integer(1, 86_400),
    default: 600,
    description: "longest that a caller of HTTP may wait for finality, seconds",
  },
  runTimeoutSeconds: {
    schema: integer(1, 3_600),
    default: 60,
    description: "longest that a run for a caller of HTTP may take, its wait included, seconds",
  },
  maxRuns: {
    schema: integer(1, 10_000),
    default: 256,
    description: "runs for callers of HTTP, waiting or under way; more are refused",
  },
  ...CALLER_SETTINGS,
  corsOrigin: {
    schema: origins,
    default: "",
    description:
      "origins, separated by commas, whose pages may send POST from a browser, or *; every page may read what is public",
  },
  explorerPort: EXPLORER_PORT_SETTING,
  metricsPort: {
    schema: integer(0, 65_535),
    description: "port of /metrics, 0 for any; absent: that of HTTP",
  },
  metricsHost: { schema: text, default: "127.0.0.1", description: "address that --metrics-port listens on" },
  marginPercent: {
    schema: integer(0, 10_000),
    default: 20,
    description: "how far a fee must lie above the gas that it pays for, percent",
  },
  maxBonds: {
    schema: wei,
    default: "10 ether",
    description: "most in bonds that are not over",
  },
  maxBond: {
    schema: wei,
    default: "1 ether",
    description:
      "most in the bond of one claim, which follows the gas price; what needs more is left to others",
  },
  maxWindow: {
    schema: integer(1, 30 * 86_400),
    default: 30 * 86_400,
    description: "longest window of a request that is claimed, seconds",
  },
  endingBudget: ENDING_BUDGET_SETTING,
  withdrawAbove: {
    schema: wei,
    default: "0.1 ether",
    description: "credit from which it is withdrawn",
  },
  ...SWEEP_SETTINGS,
  deliveryTries: {
    schema: integer(1, 1_000),
    default: DEFAULT_DELIVERY_TRIES,
    description: "failures of a callback after which its delivery is given up",
  },
  operator: {
    schema: address,
    description: "address named in claims that may answer for them too",
  },
  claims: {
    schema: z.enum(["on", "off"], "must be on or off"),
    default: "on",
    description: "off: only answer for claims that this key made or may answer for",
  },
  proofs: {
    schema: z.enum(["on", "off"], "must be on or off"),
    default: "on",
    description: "off: settle nothing by proof",
  },
  keys: { schema: text, default: KEY_FOLDER, isPath: true, description: "folder of proving keys" },
  groth16Prover: {
    schema: text,
    isPath: true,
    description: "path of assay-prove, which makes Groth16 proofs; absent: snarkjs",
  },
  ...SIGNING_SETTINGS,
  ...PAYMENT_SETTINGS,
  ...EZKL_SETTINGS,
  ...WORKERS_SETTINGS,
  ...PROOF_WORKERS_SETTINGS,
  processes: { schema: integer(1, 64), default: 1, description: "child processes that run onnxruntime" },
  width: { schema: integer(1, 256), default: 4, description: "claims, endings and deliveries at once" },
  forgetAfter: {
    schema: integer(256, 100_000_000),
    default: DEFAULT_FORGET_AFTER,
    description: "blocks for which requests that are over stay known: a day of 12-second blocks",
  },
} as const satisfies Settings;

/** What a prover is started with. */
export interface ProverParts {
  readonly chain: SigningChain;
  readonly settings: Config<typeof PROVER_SETTINGS>;
  readonly engine: FastPath;
  readonly canonical: Canonical;
  readonly ezkl: EzklOptions;
  /** absent: none are asked */
  readonly workers: AskedWorkers | undefined;
  readonly log: Logger;
}

/** What it claims, and what it settles by. */
export interface ProverWork {
  readonly runs: Runs;
  readonly truths: readonly TruthSource[];
  close(): void;
}

export function addProverCommand(program: Command): void {
  const command = program
    .command("prover")
    .description("run models for requests, claim their outputs, answer challenges, serve HTTP")
    .option(
      "--force",
      "start although no folder holds the model of a live claim, which then cannot be defended",
    );
  withSettings(withSettings(withChain(command), DATABASE_SETTINGS), PROVER_SETTINGS).action(
    (_options: object, self: Command) => serveProver(self, honestWork),
  );
}

export function honestWork({
  chain,
  settings,
  engine,
  canonical,
  ezkl,
  workers,
  log,
}: ProverParts): ProverWork {
  const prover = openGroth16Prover(settings.groth16Prover);
  const truths: TruthSource[] = [new ExecutionSource(chain, canonical, log)];
  if (settings.proofs === "on") {
    const limitMs = 1_000 * settings.workerProofSeconds;
    const asked = workers && { runs: workers.runs, limitMs, log };
    truths.push(new Groth16Source({ chain, keys: settings.keys, prover, canonical, workers: asked, log }));
    truths.push(new EzklSource({ chain, ezkl, workers: asked, log }));
  }
  const confirmed =
    workers && confirmedHere({ workers: workers.runs, fast: engine, asksFor: workers.asksFor });
  return { runs: honestRuns({ engine, canonical, log }, confirmed), truths, close: () => prover.close() };
}

/** Runs a prover on the command's settings until it is stopped.
 *  @throws BaseError as the configuration, the model folders, `workOf` and runProver do */
export async function serveProver(self: Command, workOf: (parts: ProverParts) => ProverWork): Promise<void> {
  const config = chainConfig(self);
  const settings = loadConfig(PROVER_SETTINGS, { flags: self.optsWithGlobals(), env: process.env }, "prover");
  const { operator, metricsPort } = settings;
  const database = configuredDatabase(self);
  const log = createLogger("prover", self);
  const signal = stopSignal(log);
  const chain = requireAccount(await openChain(config, log));
  const { programs, proofModels } = loadModels(settings.models, log, chain);
  const sweep = sweepTerms(settings, chain);
  await warnOfKey(chain, config, log);
  const signing = signingOptions(settings, config, process.env);
  const payment = paymentTerms(settings, chain.account.address);
  if (database !== undefined) refuseInFolder(database.name, { payment, signing });
  const ezkl = ezklOptions(config, settings, signal);
  const engine = withEzkl(await openEngine(programs, settings.processes, log), proofModels, ezkl);
  let work: ProverWork | undefined;
  try {
    const workers = await openWorkers(settings, database, programs, log);
    work = workOf({ chain, settings, engine, canonical: engine.canonical, ezkl, workers, log });
    const options: ProverOptions = {
      chain,
      models: [...programs, ...proofModels],
      engine,
      canonical: engine.canonical,
      runs: work.runs,
      data: config.data,
      policy: settings,
      truths: work.truths,
      claims: settings.claims === "on",
      width: settings.width,
      forgetAfter: settings.forgetAfter,
      withdrawAbove: settings.withdrawAbove,
      deliveryTries: settings.deliveryTries,
      force: self.opts<{ force?: boolean }>().force === true,
      pollIntervalMs: config.pollIntervalMs,
      confirmations: confirmationsOn(chain, config),
      maxFee: config.maxFee,
      http: { ...settings, ...callerLimits(settings) },
      ...(metricsPort === undefined ? {} : { metricsAt: { host: settings.metricsHost, port: metricsPort } }),
      log,
      ...(operator === undefined ? {} : { operator }),
      ...(database === undefined ? {} : { database }),
      ...(workers === undefined ? {} : { workers }),
      ...(sweep === undefined ? {} : { sweep }),
      ...(payment === undefined ? {} : { payment }),
      ...(signing === undefined ? {} : { signing }),
    };
    await besideExplorer(self, settings.explorerPort, log, () => runProver(options, signal));
  } finally {
    work?.close();
    engine.close();
  }
}

/** What stands in one folder alone cannot follow the key to another machine. */
function refuseInFolder(
  database: string,
  { payment, signing }: { payment: unknown; signing: unknown },
): void {
  if (payment !== undefined)
    refuseArgument("--database", database, "absent beside --payment-price, whose orders stay in one folder");
  if (signing !== undefined)
    refuseArgument("--database", database, "absent beside --sign on, whose answers stay in one folder");
}
