/** Right claims whose prover never answers, suited by a ticket that its owner then leaves: nobody who holds a ticket
 *  cares, so daemons without a stake in them end them. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { ENDING_GAS } from "../../protocol/chain/endings.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { FALL_REASONS } from "../../protocol/terms.ts";
import { fileCase, of } from "../support/cases.ts";
import { claimOutput } from "../support/claims.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const [SQUATTER, PLANT] = [ROLES.cheat, ROLES.cheat + 1];
let system: System;
let accounts: Awaited<ReturnType<System["open"]>>[];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  accounts = await Promise.all([SQUATTER, PLANT].map((index) => system.open(`account-${index}`, index)));
});

afterAll(() => system?.stop());

/** A right claim that owes an overdue trace. */
async function overdueClaim() {
  const [squatter, plant] = accounts as [(typeof accounts)[0], (typeof accounts)[0]];
  const filed = await fileCase(system);
  await claimOutput(squatter.chain, squatter.sender, filed.request, filed.right);
  const claimed = await filed.claimed();
  await plant.sender.send(new Actions(system.chain.game).challenge(claimed.claim));
  await system.events.until("Challenged", of(claimed));
  await system.passTime(2 * ANSWER_SECONDS);
  return { filed, claimed };
}

/** Who sent the transaction that ended a claim, and what it cost. */
async function endOf(claimed: { readonly claimId: string }) {
  const { reason } = await system.events.until("Fell", of(claimed));
  const fell = ({ name, args }: ChainEvent) => name === "Fell" && args.claimId === claimed.claimId;
  const { transactionHash: hash } = system.events.events.find(fell) as ChainEvent;
  const receipt = await system.chain.client.getTransactionReceipt({ hash });
  return { reason: FALL_REASONS[reason], from: receipt.from, gas: receipt.gasUsed };
}

describe("claims whose answer is overdue", () => {
  let challenger: Daemon;

  it("behavior: a challenger that has no ticket ends a right one", async () => {
    challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
    await challenger.said("challenger is up");
    const { claimed } = await overdueClaim();
    const { reason, from, gas } = await endOf(claimed);
    expect([reason, from]).toEqual(["TRACE_TIMEOUT", systemAccount(ROLES.challenger).address.toLowerCase()]);
    // With room for other moves of the same block.
    expect(gas).toBeLessThan((ENDING_GAS * 4n) / 5n);
    await challenger.stop();
    expect(readFileSync(challenger.log, "utf8")).not.toMatch(/"move":"challenge"/);
  });

  it("behavior: a prover that would serve the request ends it, and then claims", async () => {
    const { filed, claimed } = await overdueClaim();
    // Its challenger has no budget: it leaves the claim to others.
    const mean = system.daemon("mean", ROLES.cheat + 2, ["challenger", "defend", "--ending-budget", "0"]);
    await mean.said("an overdue claim is left to others for now");
    expect(system.events.all("Fell", of(claimed))).toEqual([]);
    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    const own = systemAccount(ROLES.prover).address;
    expect(await endOf(claimed)).toMatchObject({ reason: "TRACE_TIMEOUT", from: own.toLowerCase() });
    const next = await system.events.until(
      "Claimed",
      ({ requestId, claimId }) => requestId === filed.requestId && claimId !== claimed.claimId,
    );
    expect([next.claim.prover, next.output]).toEqual([own, filed.right]);
    await Promise.all([prover.stop(), mean.stop()]);
  });
});
