/** Groth16 proofs by workers, with real processes: a proof settles a request, and whoever refuses, is silent or lies costs
 *  a retry and changes nothing. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { workerProofs } from "../../cli/worker-proofs.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { storeKey } from "../../protocol/chain/proof/store-key.ts";
import { decodeProof, encodeProof } from "../../protocol/rules/proof/groth16.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import type { ProofMaker } from "../../protocol/service/workers/worker.ts";
import { SnarkjsProver } from "../../prover/proof/groth16/snark/prover.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { metricsOf } from "../support/fleet.ts";
import { longTest } from "../support/long-test.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { startWorker, workerHere } from "../support/workers.ts";

const NAME = "credit-trees";
/** Proving keys stay here from run to run: a seed gives the same ones. */
const KEYS = join(projectRoot, "build", "keys");
const SOON = { timeout: 240_000, interval: 100 };
/** Order of the field of coordinates. Source: EIP-196. */
const BASE_ORDER = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n;

let system: System;
let postgres: Postgres;
let prover: Daemon;
let metric: Awaited<ReturnType<typeof metricsOf>>;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  system = await startSystem({ models: [NAME], answerSeconds: 600 });
  const { modelId, verificationKey, directory } = system.model(NAME);
  const { chain, sender } = await system.open("publisher", ROLES.challenger);
  await storeKey(chain, sender, modelId as ModelId, verificationKey as Uint8Array);
  cpSync(directory, join(system.folder, "cache", modelId), { recursive: true });
  // A slow machine is not silent.
  await startProver("300");
});
async function startProver(proofSeconds: string): Promise<void> {
  const asks = ["--workers", "large", "--worker-proof-seconds", proofSeconds];
  const env = { ASSAY_DATABASE: postgres.url };
  prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0", "--keys", KEYS, ...asks], { env });
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
const orders = async (outcome: string) =>
  (await metric(`assay_worker_orders_total{outcome="${outcome}"}`)) ?? 0;
const logOf = ({ log }: Daemon) => readFileSync(log, "utf8");

function startProving(name: string, keys: string): Daemon {
  const cache = join(system.folder, "cache");
  const args = ["--keys", keys];
  const worker = startWorker(name, { url: postgres.url, folder: system.folder, cache, args });
  closers.push(() => worker.stop());
  return worker;
}

/** A worker in this process. */
function proving(name: string, groth16: ProofMaker): void {
  const canonical = { output: () => Promise.reject(new Error("it runs no models")) };
  const worker = workerHere(name, postgres.url, canonical, { groth16 });
  closers.push(() => worker.stop());
}

/** What an honest worker proves. */
function honestly(): ProofMaker {
  const model = system.model(NAME);
  const canonical = new CanonicalPool(new Map([[model.modelId, model]]));
  const snarkjs = new SnarkjsProver();
  closers.push(async () => {
    snarkjs.close();
    canonical.close();
  });
  return workerProofs({ keys: KEYS, load: async () => model, canonical, prover: snarkjs, log: SILENT });
}

let seed = 20;
/** A request that is settled by a proof alone is final with the right output. */
async function settles(): Promise<void> {
  const loaded = system.model(NAME);
  const calldata = selfTestCalldata(loaded.model.program, loaded.selector, ++seed);
  const asked = await system.ask({ model: loaded, calldata, lanes: LANE.PROOF });
  const output = toHex(execute(prepare(loaded.model, loaded.selector), calldata));
  const settled = await system.events.until("Settled", ({ requestId }) => requestId === asked.requestId);
  expect(settled).toMatchObject({
    ...{ submitter: systemAccount(ROLES.prover).address, lane: LANE.PROOF, output },
  });
}

describe("proofs by workers", () => {
  test("default: a worker's proof settles a request", async () => {
    const worker = startProving("worker", KEYS);
    await alive(1);
    await settles();
    expect(await orders("answered")).toBe(1);
    expect(logOf(prover)).toContain("a worker made a proof, which is valid");
    await worker.logged("proofs of this model are possible");
  });

  longTest(
    "behavior: one without the proving key refuses it by name, and this machine proves at once",
    async () => {
      const worker = startProving("keyless", join(system.folder, "no-keys"));
      await alive(1);
      await settles();
      const { reason } = await prover.logged("a worker gave no answer");
      expect(reason).toContain(`The proving key ${join(system.folder, "no-keys")}`);
      await worker.logged("an order failed");
      expect([await orders("refused"), await orders("late")]).toEqual([1, 0]);
    },
  );

  test("behavior: proofs for somebody else, of no curve and with coordinates that no contract takes bar their workers", async () => {
    const honest = honestly();
    proving("of-another", (model, { binding, calldata }, signal) =>
      honest(model, { binding: binding + 1n, calldata }, signal),
    );
    proving("not-reduced", async (model, statement, signal) => {
      const { a, b, c } = decodeProof(await honest(model, statement, signal));
      return encodeProof({ a: [a[0] + BASE_ORDER, a[1]], b, c });
    });
    proving("no-proof", async () => fromHex("0x1234"));
    await alive(3);
    await settles();
    expect(await metric("assay_workers_barred")).toBe(3);
    expect(await orders("wrong")).toBe(3);
  });

  longTest(
    "behavior: one that is silent is waited for as long as was set, then this machine proves",
    async () => {
      await prover.stop();
      await startProver("2");
      proving("silent", () => new Promise(() => {}));
      await alive(1);
      await settles();
      expect(await orders("late")).toBe(1);
    },
  );
});
