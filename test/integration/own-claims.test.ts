/** A prover that comes too late for its own claims, or without their models: its operator must hear of it. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { fileCase, of } from "../support/cases.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

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
    expect(logged).toMatchObject({ level: "error", claim: claimId, bond: claim.bond.toString() });
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
      bond: claim.bond.toString(),
    });
    await expect.poll(health, SOON).toMatchObject({ code: 200, body: { status: "ok", overdue: [] } });
    expect((await fetchMetrics(url)).has(series)).toBe(false);
    await prover.stop();
  });
});
