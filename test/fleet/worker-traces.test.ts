/** Traces by workers, with real processes: a prover whose own machine cannot trace a run defends its claims by them, and
 *  whoever dies or lies costs a retry. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { falsify } from "../../cli/demo/dishonest/faults.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { type Case, fileCase, of } from "../support/cases.ts";
import type { Args } from "../support/event-log.ts";
import { kill, metricsOf } from "../support/fleet.ts";
import { longTest } from "../support/long-test.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";
import { startWorker, workerHere } from "../support/workers.ts";

const SOON = { timeout: 240_000, interval: 100 };
const PATIENCE_MS = 240_000;
const ANSWER_SECONDS = 1_200;
const PROGRAM = ["--import", "tsx", join(projectRoot, "test/support/traceless-prover.ts")];

let system: System;
let postgres: Postgres;
let prover: Daemon;
let own: Awaited<ReturnType<System["open"]>>;
let metric: Awaited<ReturnType<typeof metricsOf>>;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "on-demand" });
  const { modelId, directory } = system.model("sentiment");
  cpSync(directory, join(system.folder, "cache", modelId), { recursive: true });
  own = await system.open("malicious", ROLES.challenger);
  await startProver();
});
async function startProver(): Promise<void> {
  const args = ["--port", "0", "--workers", "all", "--worker-seconds", "30"];
  const env = { ASSAY_DATABASE: postgres.url };
  prover = system.daemon("prover", ROLES.prover, args, { env, program: PROGRAM });
  metric = await metricsOf(prover, "prover is up");
}
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await expect.poll(() => metric("assay_workers_alive"), SOON).toBe(0);
});
afterAll(async () => {
  await system?.stop();
  await postgres?.stop();
});

const alive = (count: number) => expect.poll(() => metric("assay_workers_alive"), SOON).toBe(count);
const logOf = ({ log }: Daemon) => readFileSync(log, "utf8");

function start(name: string): Daemon {
  const cache = join(system.folder, "cache");
  const worker = startWorker(name, { url: postgres.url, folder: system.folder, cache });
  closers.push(() => worker.stop());
  return worker;
}

/** A worker in this process that runs the model rightly and lies about the trace. */
function lyingAboutTraces(name: string): void {
  const { modelId, model, selector } = system.model("sentiment");
  const pool = new CanonicalPool(new Map([[modelId, { model, selector }]]));
  const prepared = prepare(model, selector);
  const step = prepared.program.steps.findLastIndex(({ opcode }) => opcode !== "codec");
  const worker = workerHere(name, postgres.url, {
    output: (...args) => pool.output(...args),
    trace: async (_, calldata) => {
      const { trace } = falsify(prepared, calldata, { kind: "element", step });
      return trace;
    },
  });
  closers.push(async () => {
    await worker.stop();
    pool.close();
  });
}

/** Claims, and disputes by somebody who demands a word of a tensor. */
async function disputed(): Promise<{ malicious: MaliciousChallenger; claimed: Args<"Claimed"> }> {
  const filed: Case = await fileCase(system, ROLES.prover);
  const claimed = await filed.claimed();
  expect(claimed.output).toBe(filed.right);
  const malicious = new MaliciousChallenger(own, claimed, filed);
  await malicious.challenge();
  return { malicious, claimed };
}

/** All demands, and what is revealed to them. */
async function expectRevealed(malicious: MaliciousChallenger, claimed: Args<"Claimed">): Promise<void> {
  const { traceRoot } = await system.events.until("TraceCommitted", of(claimed), PATIENCE_MS);
  const demanded = await malicious.demandAll(traceRoot);
  const revealed = () => system.events.all("Revealed", of(claimed));
  await expect.poll(() => revealed().length, SOON).toBe(demanded.length);
  for (const { position, content } of demanded)
    expect(revealed().find((one) => one.position === position)?.content).toEqual(content);
  expect(await malicious.convict()).toMatchObject({ status: "refused", revert: { name: "NoFault" } });
}

const answered = async () => (await metric('assay_worker_orders_total{outcome="answered"}')) ?? 0;

/** Workers agree, and nothing is committed before half of the time is over. */
async function committedLate(claimed: Args<"Claimed">, before: number): Promise<void> {
  // The claim's output, and its trace.
  await expect.poll(answered, SOON).toBeGreaterThanOrEqual(before + 2);
  expect(system.events.all("TraceCommitted", of(claimed))).toEqual([]);
  await system.passTime(ANSWER_SECONDS / 2 + 10);
  await system.events.until("TraceCommitted", of(claimed), PATIENCE_MS);
}

/** A dispute of which two workers have made the trace. */
async function tracedByWorkers() {
  const workers = [start("a"), start("b")] as const;
  await alive(2);
  const before = await answered();
  const { malicious, claimed } = await disputed();
  await committedLate(claimed, before);
  await expect.poll(() => logOf(prover), SOON).toContain("two workers' is committed");
  return { workers, malicious, claimed };
}

describe("a prover that cannot trace its runs", () => {
  // With a prover that is killed in the middle it is played on every change.
  longTest("default: two workers make the trace, and its reveals: the claim stands", async () => {
    const { malicious, claimed } = await tracedByWorkers();
    await expectRevealed(malicious, claimed);
  });

  longTest(
    "behavior: kill -9 of one worker between the trace and its reveals: the other reveals",
    async () => {
      const { workers, malicious, claimed } = await tracedByWorkers();
      await kill(workers[0]);
      await expectRevealed(malicious, claimed);
    },
  );

  test("behavior: kill -9 of the prover between the trace and its reveals: they are of the trace on the chain", async () => {
    const { malicious, claimed } = await tracedByWorkers();
    await kill(prover);
    await startProver();
    await expectRevealed(malicious, claimed);
  });

  test("error: one that lies about the trace: nothing is committed until two agree", async () => {
    lyingAboutTraces("liar");
    start("a");
    await alive(2);
    const before = await answered();
    const { malicious, claimed } = await disputed();
    // The claim's output, and its trace.
    await expect.poll(answered, SOON).toBeGreaterThanOrEqual(before + 2);
    await system.passTime(ANSWER_SECONDS / 2 + 10);
    await prover.logged("a job is not done yet");
    expect(system.events.all("TraceCommitted", of(claimed))).toEqual([]);
    start("b");
    await alive(3);
    await expectRevealed(malicious, claimed);
  });
});
