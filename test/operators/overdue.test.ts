/** Right claims whose prover never answers, challenged by a ticket that its owner then leaves: nobody who holds a ticket
 *  cares, so daemons without a stake in them end them. */
import { readFileSync } from "node:fs";
import { type Address, isAddressEqual } from "viem";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { ENDING_GAS } from "../../protocol/chain/endings.ts";
import type { EventOf } from "../../protocol/chain/events.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { fileCase, of } from "../support/cases.ts";
import { claimOutput } from "../support/claims.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const [SQUATTER, SYBIL] = [ROLES.cheat, ROLES.cheat + 1];
let system: System;
let accounts: Awaited<ReturnType<System["open"]>>[];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  accounts = await Promise.all([SQUATTER, SYBIL].map((index) => system.open(`account-${index}`, index)));
});

afterAll(() => system?.stop());

/** A right claim that owes a trace. */
async function owingClaim() {
  const [squatter, sybil] = accounts as [(typeof accounts)[0], (typeof accounts)[0]];
  const filed = await fileCase(system);
  await claimOutput(squatter.chain, squatter.sender, filed.request, filed.right);
  const claimed = await filed.claimed();
  await sybil.sender.send(new Actions(system.chain.game).challenge(claimed.claim));
  await system.events.until("Challenged", of(claimed));
  return { filed, claimed };
}

async function overdueClaim() {
  const owing = await owingClaim();
  await system.passTime(2 * ANSWER_SECONDS);
  return owing;
}

/** The event that ended a claim, now or later. */
async function fallOf({ claimId }: { readonly claimId: string }) {
  const find = () =>
    system.events.events.find(({ name, args }) => name === "Fell" && args.claimId === claimId);
  return system.events.when(find, () => `Nobody ended claim ${claimId}, whose trace is overdue`);
}

/** Who sent the transaction that ended a claim, why it could, and what it cost. */
async function endOf(claimed: { readonly claimId: string }) {
  const { args, transactionHash: hash } = (await fallOf(claimed)) as EventOf<"Fell">;
  const { from, gasUsed } = await system.client.getTransactionReceipt({ hash });
  return { reason: FALL_REASONS[args.reason], from, gas: gasUsed };
}

describe("claims whose answer is overdue", () => {
  let challenger: Daemon;

  it("behavior: a challenger that has no ticket ends a right one", async () => {
    challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
    await challenger.logged("challenger is up");
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
    const frugal = system.daemon("frugal", ROLES.cheat + 2, ["challenger", "defend", "--ending-budget", "0"]);
    await frugal.logged("an overdue claim is left to others for now");
    expect(system.events.all("Fell", of(claimed))).toEqual([]);
    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    const own = systemAccount(ROLES.prover).address;
    expect(await endOf(claimed)).toMatchObject({ reason: "TRACE_TIMEOUT", from: own.toLowerCase() });
    const next = await system.events.until(
      "Claimed",
      ({ requestId, claimId }) => requestId === filed.requestId && claimId !== claimed.claimId,
    );
    expect([next.claim.prover, next.output]).toEqual([own, filed.right]);
    await Promise.all([prover.stop(), frugal.stop()]);
  });

  it("behavior: of two that send in the same block both are done, the later one for little gas", async () => {
    const indices = [ROLES.cheat + 3, ROLES.cheat + 4];
    const racers = indices.map((index) => system.daemon(`racer-${index}`, index, ["challenger", "defend"]));
    await Promise.all(racers.map((racer) => racer.logged("challenger is up")));
    const { claimed } = await owingClaim();
    const { client, control } = system;
    const addresses = indices.map((index) => systemAccount(index).address);
    await system.withoutBlocks(async () => {
      await control.increaseTime({ seconds: 2 * ANSWER_SECONDS });
      await control.mine({ blocks: 1 });
      const hasSent = async (address: Address) =>
        (await client.getTransactionCount({ address, blockTag: "pending" })) === 1;
      await vi.waitUntil(async () => (await Promise.all(addresses.map(hasSent))).every(Boolean), {
        timeout: 240_000,
        interval: 100,
      });
      await control.mine({ blocks: 1 });
    });
    const { block: at } = await fallOf(claimed);
    const block = await client.getBlock({ blockHash: at.hash, includeTransactions: true });
    const ends = block.transactions.filter(({ from }) =>
      addresses.some((address) => isAddressEqual(address, from)),
    );
    const receipts = await Promise.all(ends.map(({ hash }) => client.getTransactionReceipt({ hash })));
    expect(receipts.map(({ status }) => status).sort()).toEqual(["reverted", "success"]);
    const lost = receipts.find(({ status }) => status === "reverted");
    expect(lost?.gasUsed).toBeLessThan(35_000n);
    await Promise.all(racers.map((racer) => racer.stop()));
    const logs = racers.map(({ log }) => readFileSync(log, "utf8"));
    for (const log of logs) expect(log).not.toMatch(/"level":"error"|the contract refused/);
  });
});
