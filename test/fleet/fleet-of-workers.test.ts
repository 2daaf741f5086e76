/** A prover and a challenger that ask workers, with real processes: claims are bonded, disputed and left alone as without
 *  workers, whatever becomes of them and whatever they answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { fileCase, of } from "../support/cases.ts";
import { kill, metricsOf, signal } from "../support/fleet.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";
import { startWorker, workerHere } from "../support/workers.ts";

const SOON = { timeout: 240_000, interval: 100 };
let system: System;
let postgres: Postgres;
let prover: Daemon;
let challenger: Daemon;
let workers: readonly Daemon[];
let proverMetric: Awaited<ReturnType<typeof metricsOf>>;
let challengerMetric: Awaited<ReturnType<typeof metricsOf>>;

beforeAll(async () => {
  postgres = await startPostgres();
  system = await startSystem({ models: ["sentiment"], answerSeconds: 120, blocks: "on-demand" });
  const cheat = system.cheat("cheat", ROLES.cheat, "output");
  const env = { ASSAY_DATABASE: postgres.url };
  const asks = ["--port", "0", "--workers", "all", "--worker-seconds", "30"];
  prover = system.daemon("prover", ROLES.prover, ["prover", ...asks], { env });
  const defends = ["challenger", "defend", ...asks, "--attention-seconds", "0", "--worker-sample", "1000000"];
  challenger = system.daemon("challenger", ROLES.challenger, defends, { env });
  const { url } = await prover.logged("prover is up");
  // Models come from the prover by their ids.
  workers = ["worker-1", "worker-2"].map((name) =>
    startWorker(name, {
      ...{ url: postgres.url, folder: system.folder, cache: join(system.folder, `${name}-models`) },
      args: ["--sources", String(url)],
    }),
  );
  proverMetric = await metricsOf(prover, "prover is up");
  challengerMetric = await metricsOf(challenger, "challenger is up");
  await cheat.logged("prover is up");
});
afterAll(async () => {
  // One that hangs ends by the signal that nothing stops.
  await Promise.all((workers ?? []).map((worker) => worker.stop()));
  await system?.stop();
  await postgres?.stop();
});

const answered = 'assay_worker_orders_total{outcome="answered"}';
const rightClaim = async () => {
  const filed = await fileCase(system, ROLES.prover);
  const claim = await filed.claimed();
  expect(claim.output).toBe(filed.right);
  return claim;
};
const wrongFalls = async () => {
  const made = await (await fileCase(system, ROLES.cheat)).claimed();
  await system.events.until("Challenged", of(made));
  await system.events.until("Fell", of(made));
};

describe("a prover and a challenger with workers", () => {
  test("default: right claims are made and left alone, wrong ones fall; workers took the model from the prover", async () => {
    await expect.poll(() => challengerMetric("assay_workers_alive"), SOON).toBe(2);
    await expect.poll(() => proverMetric("assay_workers_alive"), SOON).toBe(2);
    const [byProver, byChallenger] = [await proverMetric(answered), await challengerMetric(answered)];
    const { claimId } = await rightClaim();
    await expect.poll(() => readFileSync(challenger.log, "utf8"), SOON).toContain(claimId);
    await wrongFalls();
    expect(await proverMetric(answered)).toBeGreaterThan(byProver as number);
    expect(await challengerMetric(answered)).toBeGreaterThanOrEqual((byChallenger as number) + 2);
    expect(system.events.all("Challenged", of({ claimId }))).toEqual([]);
    for (const worker of workers) await worker.logged("a model is loaded");
  });

  test("behavior: kill -9 of one worker and SIGSTOP of the other: this machine goes on by itself", async () => {
    const [first, second] = workers as [Daemon, Daemon];
    await kill(first);
    signal(second, "SIGSTOP");
    await rightClaim();
    await wrongFalls();
    signal(second, "SIGCONT");
    await expect.poll(() => challengerMetric("assay_workers_alive"), SOON).toBe(1);
  });

  test("behavior: two workers that tell of a right claim that it is wrong: no ticket; and they are barred", async () => {
    const { model, selector } = system.model("sentiment");
    const prepared = prepare(model, selector);
    const lies = (calldata: Uint8Array) => execute(prepared, calldata).slice().fill(1);
    await (workers[1] as Daemon).stop();
    const liars = ["liar-1", "liar-2"].map((name) =>
      workerHere(name, postgres.url, { output: async (_, calldata) => lies(calldata) }),
    );
    try {
      await expect.poll(() => challengerMetric("assay_workers_alive"), SOON).toBe(2);
      await expect.poll(() => proverMetric("assay_workers_alive"), SOON).toBe(2);
      const { claimId } = await rightClaim();
      await expect.poll(() => challengerMetric("assay_workers_barred"), SOON).toBe(2);
      await expect.poll(() => readFileSync(challenger.log, "utf8"), SOON).toContain(claimId);
      expect(system.events.all("Challenged", of({ claimId }))).toEqual([]);
      // One of them answered the prover, which bonded on what its own executor computed.
      await expect.poll(() => proverMetric("assay_workers_barred"), SOON).toBeGreaterThan(0);
      await wrongFalls();
    } finally {
      for (const liar of liars) await liar.stop();
    }
    for (const { log } of [prover, challenger, ...workers])
      expect(readFileSync(log, "utf8")).not.toContain(PASSWORD);
  });
});
