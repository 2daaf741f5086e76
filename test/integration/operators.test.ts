/** What operators of a prover and of a challenger see and do, over a dispute between the two. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { toHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import { SILENT } from "../../base/log.ts";
import { runChallenger } from "../../challenger/main.ts";
import { parseFault } from "../../cli/demo/dishonest/faults.ts";
import { dishonestRuns } from "../../cli/demo/dishonest/runs.ts";
import { openEngine } from "../../cli/engine.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { gasPriceRange } from "../../protocol/rules/money.ts";
import { ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { runProver } from "../../prover/main.ts";
import { runInProcess } from "../support/assay.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { OPEN_HTTP } from "../support/open-http.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const NAME = "forecast-vix";
const POLL_MS = 50;
/** Long enough for any machine. */
const ANSWER_SECONDS = 120;
/** The first of some accounts that act manually. */
const MANUAL = ROLES.cheat + 1;
const DETECTED = 'assay_challenger_attention_tests_total{result="detected"}';
const stopping = new AbortController();
const ends: Promise<unknown>[] = [];
let system: System;
let cheatUrl: string;
let challengerUrl: string;
let seed = 0;
/** What the challenger's webhook was told. */
const alerts: Record<string, unknown>[] = [];
const receiver = createServer((request, response) => {
  void json(request).then((body) => {
    alerts.push(body as Record<string, unknown>);
    response.end();
  });
});

/** Resolves with the URL in the log line that says so. */
function listening(message: string): { readonly log: Logger; readonly url: Promise<string> } {
  let announce = (_url: string) => {};
  const url = new Promise<string>((resolve) => {
    announce = resolve;
  });
  const info = (fields: object, text: string) => {
    if (text === message) announce(String((fields as { url: unknown }).url));
  };
  return { log: { ...SILENT, info }, url };
}

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  system = await startSystem({ models: [NAME], answerSeconds: ANSWER_SECONDS });
  const engine = await openEngine(system.models, 1, SILENT);
  const limits = {
    maxExposure: 10n ** 24n,
    endingBudget: 10n ** 16n,
    withdrawAbove: 10n ** 24n,
  };
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
        canonical: engine.canonical,
        data: join(system.folder, "cheat"),
        policy: {
          marginPercent: 0,
          maxBonds: 10n ** 24n,
          maxBond: 10n ** 24n,
          endingBudget: 10n ** 16n,
          maxWindow: 86_400,
        },
        claims: true,
        withdrawAbove: 10n ** 24n,
        http: OPEN_HTTP,
        runs: dishonestRuns(parseFault("element:1")),
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
        canonical: engine.canonical,
        data: join(system.folder, "challenger"),
        limits,
        http: OPEN_HTTP,
        attentionMs: 1,
        webhook: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
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
  receiver.close();
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
    const first = await fetchMetrics(cheatUrl);
    const again = await fetchMetrics(cheatUrl);
    const REQUESTS = 'assay_http_requests_total{route="/metrics",status="200"}';
    expect((again.get(REQUESTS) ?? 0) - (first.get(REQUESTS) ?? 0)).toBe(1);
    // The two daemons see a block one after the other.
    const cheat = await vi.waitUntil(
      async () => {
        const samples = await fetchMetrics(cheatUrl);
        return samples.get("assay_prover_claims_active") === 0 && samples;
      },
      { timeout: 240_000, interval: 100 },
    );
    expect(system.events.all("Claimed", (event) => event.requestId === requestId)).toHaveLength(1);
    expect(system.events.all("TraceCommitted", (event) => event.claimId === fell.claimId)).toHaveLength(1);
    // A job that was wanted at an older block is tried once more, finds its move made, and is done again.
    for (const kind of ["claim", "commitTrace"]) {
      const ended = cheat.get(`assay_prover_jobs_ended_total{kind="${kind}",outcome="done"}`);
      expect(ended, kind).toBeGreaterThanOrEqual(1);
    }
  });
});

describe("assay challenger", () => {
  /** The program with an account's key. */
  const assay = (index: number, name: string, ...args: readonly string[]) =>
    runInProcess(["challenger", ...args, "--json"], {
      ASSAY_RPC_URL: system.rpcUrl,
      ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
      ASSAY_CHALLENGER_MODELS: join(system.folder, "models"),
      ASSAY_DATA: join(system.folder, name),
      ASSAY_KEY: keyOf(index),
      ASSAY_POLL_INTERVAL_MS: String(POLL_MS),
    });
  const resultOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as Record<string, unknown>;
  const claimedBy = (requestId: string) =>
    system.events.until("Claimed", (event) => event.requestId === requestId);

  test("default: verify and challenge a wrong claim, then list and show it", async () => {
    const { requestId } = await askCheat();
    const { claimId } = await claimedBy(requestId);
    const verified = await assay(MANUAL, "manual", "verify", claimId);
    expect([verified.code, resultOf(verified)]).toMatchObject([
      4,
      { model: expect.any(String), verdict: { kind: "wrong" } },
    ]);
    const challenged = await assay(MANUAL, "manual", "challenge", claimId);
    // The daemon disputes it too: whoever convicts, it fell, and this command says so.
    expect([challenged.code, resultOf(challenged)]).toMatchObject([0, { claimId, status: "fallen" }]);
    await system.events.until("Fell", (event) => event.claimId === claimId);
    const { claims } = resultOf(
      await assay(ROLES.challenger, "challenger", "list-claims", "--state", "fallen"),
    );
    expect(claims).toContainEqual(
      expect.objectContaining({ claimId, status: "fallen", verdict: "wrong", hasOwnTicket: true }),
    );
    const shown = await assay(MANUAL, "manual", "show-claim", claimId);
    expect(resultOf(shown)).toMatchObject({ claimId, word: { state: "FALLEN" } });
  });

  test("behavior: resume collects what the challenger's ticket won", async () => {
    const { requestId } = await askCheat();
    const { claimId, claim } = await claimedBy(requestId);
    const manual = await system.open("ticket", MANUAL + 1);
    expect(await manual.sender.send(new Actions(manual.chain.game).challenge(claim))).toMatchObject({
      status: "sent",
    });
    // Slower than blocks come: each look finds a new one, and the command must still see that nothing is left to do.
    const resumed = await assay(MANUAL + 1, "resumed", "resume", "--poll-interval-ms", "1500");
    expect([resumed.code, resultOf(resumed)]).toMatchObject([
      0,
      { claims: [{ claimId, status: "fallen", collected: true }] },
    ]);
  });

  test("behavior: a right claim is verified, and no ticket is filed on it", async () => {
    const model = system.model(NAME);
    const calldata = selfTestCalldata(model.model.program, model.selector, 900);
    const honest = await system.open("honest", MANUAL + 2);
    const prover = honest.chain.account.address;
    const { request, requestId } = await system.ask({ model, calldata, prover });
    const output = toHex(execute(prepare(model.model, model.selector), calldata));
    const { baseFeePerGas } = await honest.chain.client.getBlock();
    const { least } = gasPriceRange(honest.chain.constants, baseFeePerGas ?? 0n);
    const gasPrice = 2n * least;
    const { bond } = await new StateReader(honest.chain).bonds(request, gasPrice);
    const action = new Actions(honest.chain.game).claim(request, 0, ZERO_ADDRESS, gasPrice, output, bond);
    expect(await honest.sender.send(action)).toMatchObject({ status: "sent" });
    const { claimId } = await claimedBy(requestId);
    const verified = await assay(MANUAL, "manual", "verify", claimId);
    expect([verified.code, resultOf(verified)]).toMatchObject([0, { verdict: { kind: "right" } }]);
    const challenged = await assay(MANUAL, "manual", "challenge", claimId);
    expect([challenged.code, challenged.stderr]).toEqual([1, expect.stringContaining("CLAIM_NOT_WRONG")]);
    expect(system.events.all("Challenged", (event) => event.claimId === claimId)).toEqual([]);
    // The daemon found it right too, and tested itself with a wrong twin of it.
    await expect
      .poll(async () => (await fetchMetrics(challengerUrl)).get(DETECTED), { timeout: 240_000 })
      .toBeGreaterThanOrEqual(1);
    expect((await fetchMetrics(challengerUrl)).get(DETECTED.replace("detected", "missed"))).toBe(0);
    // Nobody who works here finalizes it: who listens learns by the chain's time.
    const listen = (after?: string) =>
      fetch(`${cheatUrl}/v1/claims/${claimId}/events`, after ? { headers: { "last-event-id": after } } : {});
    const life = listen();
    await system.passTime(request.window);
    const stream = await (await life).text();
    expect([...stream.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual(["Claimed", "final"]);
    const [id, last = ""] = [...stream.matchAll(/^id: (.*)$/gm)].map(([, found]) => found as string);
    expect(JSON.parse(stream.slice(stream.lastIndexOf("data: ") + 6))).toMatchObject({
      claimId,
      state: "FINAL",
      finalAt: expect.any(Number),
    });
    expect(await (await listen(id)).text()).toContain("event: final");
    expect((await listen(last)).status).toBe(204);
    expect(system.events.all("Finalized", (event) => event.claimId === claimId)).toEqual([]);
    // Once it is booked, who heard that it is final hears that too.
    const { claim } = await claimedBy(requestId);
    const finalize = new Actions(honest.chain.game).finalize(request, claim);
    expect(await honest.sender.send(finalize)).toMatchObject({ status: "sent" });
    await system.events.until("Finalized", (event) => event.requestId === requestId);
    await expect
      .poll(async () => (await listen(last)).text(), { timeout: 240_000 })
      .toMatch(/^id: .*\nevent: Finalized\n/);
  });

  test("default: every planned wrong claim was challenged, and the operator was told", async () => {
    const cheat = systemAccount(ROLES.cheat).address;
    const planned = system.events.all("Claimed", ({ claim }) => claim.prover === cheat);
    const report = resultOf(await assay(MANUAL, "manual", "attention", "--prover", cheat));
    expect(report).toMatchObject({ planned: planned.length, detected: planned.length, rate: 1 });
    expect(report.worstSeconds).toBeGreaterThanOrEqual(Number(report.medianSeconds));
    for (const { claimId: claim } of planned) {
      expect(alerts).toContainEqual(
        expect.objectContaining({ kind: "wrong-claim", severity: "critical", claim }),
      );
    }
  });

  test("error: what cannot be looked at", async () => {
    const unknown = `0x${"00".repeat(31)}01`;
    for (const [args, code, expected] of [
      [["verify", unknown], 1, "CLAIM_UNKNOWN"],
      [["verify", "0x12"], 2, "ARGUMENT_INVALID"],
      [["list-claims", "--state", "open"], 2, "ARGUMENT_INVALID"],
      [["list-claims", "--limit", "0"], 2, "ARGUMENT_INVALID"],
      [["challenge", unknown, "--data", join(system.folder, "challenger")], 1, "CLAIM_UNKNOWN"],
      [["resume", "--data", join(system.folder, "challenger")], 1, "DATA_FOLDER_BUSY"],
    ] as const) {
      const answered = await assay(MANUAL, "manual", ...args);
      expect([args[0], answered.code, answered.stderr]).toEqual([
        args[0],
        code,
        expect.stringContaining(expected),
      ]);
    }
  });
});
