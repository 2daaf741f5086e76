import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StateReader } from "../../protocol/chain/reads.ts";
import { finalPayout } from "../../protocol/rules/money.ts";
import { fileCase, of } from "../support/cases.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake: the test lets the time pass. */
const ANSWER_SECONDS = 120;
const MALICIOUS = ROLES.cheat;
const NEVER = "1000000000000000000000";

let system: System;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const args = ["prover", "--port", "0", "--withdraw-above", NEVER];
  await system.daemon("prover", ROLES.prover, args).logged("prover is up");
});

afterAll(() => system.stop());

describe("an honest claim under a malicious challenger", () => {
  it("behavior: every demand is answered, nothing convicts, and the ticket is lost", async () => {
    const filed = await fileCase(system, ROLES.prover);
    const claimed = await filed.claimed();
    const ofClaim = of(claimed);
    const malicious = new MaliciousChallenger(
      await system.open("malicious-challenger", MALICIOUS),
      claimed,
      filed,
    );
    await malicious.challenge();
    const { traceRoot } = await system.events.until("TraceCommitted", ofClaim);
    const demanded = await malicious.demandAll(traceRoot);
    expect(demanded).toHaveLength(2);
    for (const { position, content } of demanded) {
      const revealed = await system.events.until("Revealed", (event) => {
        return ofClaim(event) && event.position === position;
      });
      expect(revealed.content).toEqual(content);
    }
    expect(await malicious.demandTooMuch(traceRoot)).toMatchObject({
      status: "refused",
      revert: { name: "QuotaUsed" },
    });
    expect(await malicious.convict()).toMatchObject({ status: "refused", revert: { name: "NoFault" } });
    await system.passTime(filed.request.window + ANSWER_SECONDS + 1);
    await system.events.until("Finalized", ofClaim);
    const state = new StateReader(system.chain);
    const { claim } = claimed;
    const paid = finalPayout(claim, 1, filed.request.fee);
    const proverAddress = systemAccount(ROLES.prover).address;
    expect(system.events.all("Credited", ({ account }) => account === proverAddress)).toEqual([
      { account: proverAddress, amount: paid.prover },
    ]);
    expect(paid.prover).toBe(claim.bond + claim.ticketBond / 2n + filed.request.fee);
    expect(await state.credits(malicious.account.address)).toBe(0n);
    expect(await malicious.collect()).toMatchObject({
      status: "refused",
      revert: { name: "ClaimNotFallen" },
    });
    expect(system.events.all("Fell", ofClaim)).toEqual([]);
  });
});
