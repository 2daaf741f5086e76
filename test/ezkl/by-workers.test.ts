/** Proofs by ezkl that workers make for a prover that has no ezkl. Before it `assay proof ezkl install --data
 *  build/ezkl-data` ran (tools/named-suite.ts). */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { workerEzkl } from "../../cli/worker-ezkl.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { joinBytes, splitBytes } from "../../protocol/service/workers/orders.ts";
import type { ProofMaker } from "../../protocol/service/workers/worker.ts";
import { encodeCalldata } from "../../prover/proof/ezkl/instances.ts";
import { runEzkl } from "../../prover/proof/ezkl/prove.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { postgresPrograms } from "../../tools/postgres.ts";
import { metricsOf } from "../support/fleet.ts";
import { longTest } from "../support/long-test.ts";
import { windowNumbers } from "../support/make-ezkl-vectors.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { startWorker, workerHere } from "../support/workers.ts";

const NAME = "forecast-ezkl";
const EZKL = join(projectRoot, "build/ezkl-data/ezkl");
const SOON = { timeout: 240_000, interval: 100 };

// Orders go through PostgreSQL.
describe.skipIf(postgresPrograms() === undefined)("proofs by ezkl from workers", () => {
  let system: System;
  let postgres: Postgres;
  let prover: Daemon;
  let metric: Awaited<ReturnType<typeof metricsOf>>;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    system = await startSystem({ models: [], proofModels: [NAME], answerSeconds: 600 });
    const { modelId, directory } = system.proofModel(NAME);
    cpSync(directory, join(system.folder, "cache", modelId), { recursive: true });
    // A slow machine is not silent.
    const asks = ["--workers", "large", "--worker-proof-seconds", "300"];
    const env = { ASSAY_DATABASE: postgres.url };
    prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0", ...asks], { env });
    metric = await metricsOf(prover, "prover is up");
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await expect.poll(() => metric("assay_workers_alive"), SOON).toBe(0);
  });
  afterAll(async () => {
    await system?.stop();
    await postgres?.stop();
  });

  const alive = (count: number) => expect.poll(() => metric("assay_workers_alive"), SOON).toBe(count);

  function startProving(): void {
    const cache = join(system.folder, "cache");
    const args = ["--ezkl", EZKL];
    const worker = startWorker("honest", { url: postgres.url, folder: system.folder, cache, args });
    closers.push(() => worker.stop());
  }

  /** A worker in this process. */
  function proving(name: string, ezkl: ProofMaker): void {
    const canonical = { output: () => Promise.reject(new Error("it runs no models")) };
    const worker = workerHere(name, postgres.url, canonical, { ezkl });
    closers.push(() => worker.stop());
  }

  let shift = 100;
  /** A request that is settled by a proof alone, and what its right output is. */
  async function ask() {
    shift += 1;
    const { selector } = system.proofModel(NAME).manifest.assay;
    const numbers = windowNumbers().map((number) => number + shift);
    const calldata = encodeCalldata(fromHex(selector), numbers);
    const { requestId } = await system.ask({ model: system.proofModel(NAME), calldata, lanes: LANE.PROOF });
    const [output] = await runEzkl({ folder: EZKL }, system.proofModel(NAME), [calldata]);
    const settled = () => system.events.until("Settled", (event) => event.requestId === requestId);
    const expected = {
      ...{ submitter: systemAccount(ROLES.prover).address, lane: LANE.PROOF },
      output: toHex(output as Uint8Array),
    };
    return { requestId, settled, expected };
  }

  test("default: a request waits while there is neither ezkl nor a worker, and a worker's proof settles it", async () => {
    const { requestId, settled, expected } = await ask();
    const { url } = await prover.logged("prover is up");
    const reason = async () => {
      const view = (await (await fetch(`${url}/v1/requests/${requestId}`)).json()) as {
        decision?: { reason: string };
      };
      return view.decision?.reason;
    };
    await expect.poll(reason, SOON).toContain("no worker is alive, and ezkl is not installed here");
    startProving();
    expect(await settled()).toMatchObject(expected);
    await prover.logged("a worker made a proof, which is valid");
  });

  // Those of Groth16 play it on every change.
  longTest(
    "behavior: outputs that a proof does not show, and what is no proof, bar their workers",
    async () => {
      const honest = workerEzkl({ folder: EZKL }, async () => system.proofModel(NAME));
      proving("other-output", async (model, statement, signal) => {
        const [output, proof] = splitBytes(await honest(model, statement, signal)) ?? [];
        const other = (output as Uint8Array).with(31, 1 ^ ((output as Uint8Array)[31] ?? 0));
        return joinBytes([other, proof as Uint8Array]);
      });
      proving("no-proof", async () => fromHex("0x1234"));
      await alive(2);
      const { settled, expected } = await ask();
      await expect.poll(() => metric("assay_workers_barred"), SOON).toBe(2);
      startProving();
      expect(await settled()).toMatchObject(expected);
    },
  );
});
