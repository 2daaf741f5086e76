/** kill -9 of every process at every stage of what it does: whenever a transaction of its own waits to be mined, and
 *  whenever something happens to a claim that concerns it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { type Case, fileCase, isAbout, of } from "../support/cases.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { watchMempool } from "../support/mempool.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";
import { Victim } from "../support/victim.ts";

/** Room for a process to start anew, again and again, on any machine, and still answer. */
const ANSWER_SECONDS = 240;
const [CHEAT, MALICIOUS] = [ROLES.cheat, ROLES.cheat + 1];

let system: System;
let prover: Victim;
let challenger: Victim;
let cheat: Victim;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const often = ["--withdraw-above", "1"];
  prover = new Victim(ROLES.prover, "prover is up", () =>
    system.daemon("prover", ROLES.prover, ["prover", "--port", "0", ...often]),
  );
  cheat = new Victim(CHEAT, "prover is up", () => system.cheat("cheat", CHEAT, "element:1", often));
  challenger = new Victim(ROLES.challenger, "challenger is up", () =>
    system.daemon("challenger", ROLES.challenger, ["challenger", "defend", ...often]),
  );
  await Promise.all([prover.settled(), cheat.settled(), challenger.settled()]);
});

afterAll(() => system.stop());

/** Kills whom a case concerns at each kind of event on it. @returns how to end that */
function strikeAtEvents(filed: Case, victims: readonly Victim[]): () => void {
  let done = 0;
  return system.events.watch(() => {
    for (const event of system.events.events.slice(done)) {
      done += 1;
      if (!isAbout(system, filed, event)) continue;
      for (const victim of victims) victim.strike(`${filed.requestId} ${event.name}`, event.name);
    }
  });
}

describe("kill -9 of prover, cheat and challenger at every stage", () => {
  it("behavior: each move is made once, the honest claim is final, the wrong one falls, and all are paid", async () => {
    const victims = new Map([prover, challenger, cheat].map((victim) => [victim.address, victim]));
    const stopWatching = watchMempool(system, ({ from, move, hash }) =>
      victims.get(from)?.strike(hash, `sent ${move}`),
    );
    const [honest, wrong] = await Promise.all([fileCase(system, ROLES.prover), fileCase(system, CHEAT)]);
    const stops = [strikeAtEvents(honest, [prover]), strikeAtEvents(wrong, [challenger, cheat])];
    const claimed = await honest.claimed();
    const malicious = new MaliciousChallenger(
      await system.open("malicious-challenger", MALICIOUS),
      claimed,
      honest,
    );
    await malicious.challenge();
    const { traceRoot } = await system.events.until("TraceCommitted", of(claimed));
    const demanded = await malicious.demandAll(traceRoot);
    await system.events.when(
      () => system.events.all("Revealed", of(claimed)).length === demanded.length || undefined,
      () => "Not every demand is answered",
    );
    const { claimId } = await wrong.claimed();
    const collected = await system.events.until("Collected", of({ claimId }));
    const withdrawn = (address: string) =>
      system.events.until("Withdrawn", ({ account }) => account === address);
    await withdrawn(challenger.address);
    await Promise.all([prover.settled(), challenger.settled(), cheat.settled()]);
    await system.passTime(honest.request.window + ANSWER_SECONDS + 1);
    await system.events.until("Finalized", of(claimed));
    await withdrawn(prover.address);
    for (const stop of stops) stop();
    // The last look at the mempool may still kill: who is struck is waited for after it.
    await stopWatching();
    await Promise.all([prover.settled(), challenger.settled(), cheat.settled()]);

    expect(claimed.output).toBe(honest.right);
    expect(system.events.all("Fell").map((fall) => [fall.claimId, FALL_REASONS[fall.reason]])).toEqual([
      [claimId, "ELEMENT"],
    ]);
    expect(collected.owner).toBe(challenger.address);
    const sent = (kinds: readonly string[]) => kinds.filter((kind) => kind.startsWith("sent "));
    const moves = ({ kills }: Victim) => [...new Set(sent(kills))].map((kind) => kind.slice(5)).sort();
    expect(moves(prover)).toEqual(["claim", "commitTrace", "finalize", "reveal", "withdraw"]);
    expect(moves(cheat)).toEqual(["claim", "commitTrace", "reveal"]);
    expect(moves(challenger)).toEqual(["challenge", "collect", "convictElement", "demand", "withdraw"]);
    // Every transaction was seen, and there are no others.
    for (const [address, victim] of victims)
      expect(await system.client.getTransactionCount({ address: address as `0x${string}` })).toBe(
        sent(victim.kills).length,
      );
    const events = (kinds: readonly string[]) => kinds.filter((kind) => !kind.startsWith("sent "));
    const dispute = ["Requested", "Claimed", "Challenged", "TraceCommitted", "Demanded", "Revealed"];
    expect(events(prover.kills)).toEqual(expect.arrayContaining([...dispute, "Finalized"]));
    expect(events(challenger.kills)).toEqual(expect.arrayContaining([...dispute, "Fell", "Collected"]));
    expect(events(cheat.kills)).toEqual(expect.arrayContaining([...dispute, "Fell", "Collected"]));
  });
});
