/** A prover that comes too late for its own claims, or without their models: its operator must hear of it. */

import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { formatAmount } from "../../base/amounts.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { fileCase, of } from "../support/cases.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { longTest } from "../support/long-test.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const SOON = { timeout: 240_000, interval: 100 };
const RIVAL = ROLES.cheat;
let system: System;
let rival: Awaited<ReturnType<System["open"]>>;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment", "forecast-vix"], answerSeconds: ANSWER_SECONDS });
  rival = await system.open("rival", RIVAL);
});
afterAll(() => system?.stop());

const actions = () => new Actions(system.chain.game);
const startProver = (args: readonly string[] = []): Daemon =>
  system.daemon("prover", ROLES.prover, ["prover", "--port", "0", ...args]);
const urlOf = async (prover: Daemon): Promise<string> => String((await prover.logged("prover is up")).url);
const linesOf = ({ log }: Daemon, text: string): string[] =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(text));

/** A right claim of a prover that has stopped since. */
async function leftClaim() {
  const prover = startProver();
  await prover.logged("prover is up");
  const claimed = await (await fileCase(system, ROLES.prover)).claimed();
  await prover.stop();
  return claimed;
}

describe("an answer that is overdue", () => {
  test("default: is logged once, makes the node unhealthy, and counts below 0 until the claim has ended", async () => {
    const claimed = await leftClaim();
    const { claimId, claim } = claimed;
    await rival.sender.send(actions().challenge(claim));
    await system.events.until("Challenged", of(claimed));
    await system.passTime(2 * ANSWER_SECONDS);
    const prover = startProver();
    const url = await urlOf(prover);
    const health = async () => {
      const response = await fetch(`${url}/healthz`);
      return { code: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const logged = await prover.logged(
      "an answer that this prover owes is overdue: anybody may end the claim, and its bond is lost",
    );
    expect(logged).toMatchObject({ level: "error", claim: claimId, bondWei: claim.bond.toString() });
    const { deadline } = logged;
    expect(deadline).toBeLessThan(await system.now());
    await expect.poll(health, SOON).toMatchObject({
      code: 503,
      body: { status: "answer-overdue", overdue: [{ claim: claimId, kind: "commitTrace", deadline }] },
    });
    const series = `assay_prover_answer_seconds{claim="${claimId}",kind="commitTrace"}`;
    expect((await fetchMetrics(url)).get(series)).toBeLessThan(-ANSWER_SECONDS / 2);
    // Some looks later it is owed as before, and the log is as long.
    const head = await system.client.getBlockNumber();
    await vi.waitUntil(async () => (await system.client.getBlockNumber()) > head + 5n, SOON);
    expect((await fetchMetrics(url)).get(series)).toBeLessThan(0);
    expect(linesOf(prover, "is overdue")).toHaveLength(1);
    await rival.sender.send(actions().timeoutTrace(claim));
    await system.events.until("Fell", of(claimed));
    expect(await prover.logged("a claim of this prover fell: its bond is lost")).toMatchObject({
      level: "error",
      claim: claimId,
      reason: "TRACE_TIMEOUT",
      bondWei: claim.bond.toString(),
    });
    await expect.poll(health, SOON).toMatchObject({ code: 200, body: { status: "ok", overdue: [] } });
    expect((await fetchMetrics(url)).has(series)).toBe(false);
    await prover.stop();
  });
});

describe("a prover without the model of a claim that it made", () => {
  /** The prover on a folder that holds another model alone. */
  function startWithout(args: readonly string[], name = "prover"): Daemon {
    const models = join(system.folder, "other-models");
    cpSync(join(system.folder, "models/forecast-vix"), join(models, "forecast-vix"), { recursive: true });
    const prover = startDaemon({
      name,
      folder: system.folder,
      rpcUrl: system.rpcUrl,
      deployment: join(system.folder, "deployment.json"),
      key: keyOf(ROLES.prover),
      args: ["prover", "--port", "0", "--models", models, ...args],
    });
    closers.push(() => prover.stop());
    return prover;
  }
  const closers: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(closers.map((close) => close())));

  test("error: does not start, and names claim, bond, model and what to do", async () => {
    const { claimId, claim } = await leftClaim();
    // With its own data folder, and with an empty one: the chain knows the claim in either case.
    for (const name of ["prover", "without-data"]) {
      const prover = startWithout([], name);
      await prover.ended;
      await vi.waitUntil(() => linesOf(prover, "next: ").length > 0, SOON);
      const log = readFileSync(prover.log, "utf8");
      expect(log).toContain("error: No folder here holds the models of 1 live claims");
      for (const part of [claimId, claim.modelId, formatAmount(claim.bond), "--force"])
        expect(log).toContain(part);
    }
  });

  longTest(
    "behavior: goes on with --force, and logs each claim once with bond, deadline and what to do",
    async () => {
      const { claimId, claim, windowEnd } = await leftClaim();
      const prover = startWithout(["--force"]);
      await vi.waitUntil(
        () => linesOf(prover, "no folder here holds").some((line) => line.includes(claimId)),
        SOON,
      );
      const warning = linesOf(prover, "no folder here holds").find((line) => line.includes(claimId)) ?? "";
      expect(JSON.parse(warning)).toMatchObject({
        level: "error",
        claim: claimId,
        model: claim.modelId,
        bondWei: claim.bond.toString(),
        windowEnd,
        nextStep: expect.stringContaining("before somebody challenges"),
      });
      // When it is challenged: what is owed and until when, once.
      await rival.sender.send(actions().challenge(claim));
      const challenged = await vi.waitUntil(() => linesOf(prover, `commitTrace:${claimId}`)[0], SOON);
      const { traceDeadline } = await new StateReader(system.chain).claimWord(claimId);
      expect(JSON.parse(challenged)).toMatchObject({
        level: "warn",
        reason: expect.stringContaining(`until ${traceDeadline}`),
      });
      const head = await system.client.getBlockNumber();
      await vi.waitUntil(async () => (await system.client.getBlockNumber()) > head + 5n, SOON);
      expect(linesOf(prover, `commitTrace:${claimId}`)).toHaveLength(1);
      await prover.stop();
      // With its folder it answers as if nothing had been.
      const whole = startProver();
      await system.events.until("TraceCommitted", (event) => event.claimId === claimId);
      await whole.stop();
    },
  );
});
