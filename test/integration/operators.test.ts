/** What operators of a prover and of a challenger see and do, over a dispute between the two. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runChallenger } from "../../challenger/main.ts";
import { openEngine } from "../../cli/engine.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import type { Logger } from "../../protocol/log.ts";
import { SILENT } from "../../protocol/log.ts";
import { parseFault } from "../../prover/faults.ts";
import { runProver } from "../../prover/main.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const NAME = "forecast-vix";
const POLL_MS = 50;
/** Long enough for any machine. */
const ANSWER_SECONDS = 120;
const HTTP = { host: "127.0.0.1", port: 0, maxWaitSeconds: 600 };
const stopping = new AbortController();
const ends: Promise<unknown>[] = [];
let system: System;
let cheatUrl: string;
let challengerUrl: string;
let seed = 0;

/** Resolves with the URL in the log line that says so. */
function listening(message: string): { readonly log: Logger; readonly url: Promise<string> } {
  let announce = (_url: string) => {};
  const url = new Promise<string>((resolve) => {
    announce = resolve;
  });
  const info = (fields: object, said: string) => {
    if (said === message) announce(String((fields as { url: unknown }).url));
  };
  return { log: { ...SILENT, info }, url };
}

beforeAll(async () => {
  system = await startSystem({ models: [NAME], answerSeconds: ANSWER_SECONDS });
  const engine = await openEngine(system.models, 1, SILENT);
  const limits = { maxExposure: 10n ** 24n, withdrawAbove: 10n ** 24n };
  const common = {
    models: system.models,
    width: 4,
    pollIntervalMs: POLL_MS,
    confirmations: 0,
    maxFee: 10n ** 12n,
  };
  const cheat = listening("prover is up");
  const challenger = listening("challenger is up");
  ends.push(
    runProver(
      {
        ...common,
        ...cheat,
        chain: await system.chainOf(systemAccount(ROLES.cheat)),
        engine,
        data: join(system.folder, "cheat"),
        policy: { marginPercent: 0, maxBonds: 10n ** 24n, maxWindow: 86_400 },
        claims: true,
        withdrawAbove: 10n ** 24n,
        http: HTTP,
        fault: parseFault("element:1"),
      },
      stopping.signal,
    ),
    runChallenger(
      {
        ...common,
        ...challenger,
        mode: "defend",
        chain: await system.chainOf(systemAccount(ROLES.challenger)),
        fast: engine,
        data: join(system.folder, "challenger"),
        limits,
        http: HTTP,
      },
      stopping.signal,
    ),
  );
  void Promise.allSettled(ends).then(() => engine.close());
  const failed = Promise.all(ends).then((): never => {
    throw new Error("a daemon ended");
  });
  [cheatUrl, challengerUrl] = await Promise.race([Promise.all([cheat.url, challenger.url]), failed]);
});

afterAll(async () => {
  stopping.abort();
  await Promise.all(ends);
  await system.stop();
});

/** A request that the cheat alone may claim. */
function askCheat() {
  const model = system.model(NAME);
  seed += 1;
  const calldata = selfTestCalldata(model.model.program, model.selector, seed);
  return system.ask({ model, calldata, prover: systemAccount(ROLES.cheat).address });
}

describe("GET /metrics", () => {
  test("default: both sides of a dispute, from the claim to its fall", async () => {
    const { requestId } = await askCheat();
    const fell = await system.events.until("Fell", (event) => event.requestId === requestId);
    const challenger = await vi.waitUntil(
      async () => {
        const samples = await fetchMetrics(challengerUrl);
        return samples.get('assay_challenger_disputes_over_total{ending="fallen"}') === 1 && samples;
      },
      { timeout: 240_000, interval: 100 },
    );
    expect(challenger.get('assay_challenger_claims_checked_total{verdict="wrong"}')).toBe(1);
    expect(challenger.get('assay_challenger_moves_total{move="challenge",done="true"}')).toBe(1);
    expect(challenger.get('assay_challenger_moves_total{move="convict",done="true"}')).toBe(1);
    expect(challenger.get("assay_challenger_verdict_seconds_count")).toBe(1);
    expect(challenger.get("assay_challenger_exposure_wei")).toBe(0);
    expect(challenger.get("assay_rpc_up")).toBe(1);
    expect(challenger.get("assay_account_balance_wei")).toBeGreaterThan(10 ** 18);
    const shown = [...challenger.keys()].filter((name) => name.includes(fell.claimId));
    expect(shown).toEqual([]);
    const cheat = await fetchMetrics(cheatUrl);
    expect(cheat.get('assay_prover_jobs_ended_total{kind="claim",outcome="done"}')).toBe(1);
    expect(cheat.get('assay_prover_jobs_ended_total{kind="commitTrace",outcome="done"}')).toBe(1);
    expect(cheat.get("assay_prover_claims_active")).toBe(0);
    const again = await fetchMetrics(cheatUrl);
    expect(again.get('assay_http_requests_total{route="/metrics",status="200"}')).toBe(1);
  });
});
