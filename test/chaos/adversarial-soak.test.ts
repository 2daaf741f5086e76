/** Five dishonest provers, two malicious challengers and a bot that copies every move, against one honest prover and
 *  one honest challenger, all at once. */
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAULTS, parseFault } from "../../cli/demo/dishonest/faults.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { type Case, fileCase, of } from "../support/cases.ts";
import type { Args } from "../support/event-log.ts";
import { type FrontRunner, startFrontRunner } from "../support/front-runner.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Room for all of them on any machine; the test lets the time of those pass who never answer. */
const ANSWER_SECONDS = 240;
/** Steps of models/sentiment: 0 is its codec step, 12 its last layer. */
const LIES = ["element:12", "codec:0", "output", "garbage-reveal", "stall"] as const;
const CHEATS = LIES.map((_, i) => ROLES.cheat + i);
const MALICIOUS = [ROLES.cheat + LIES.length, ROLES.cheat + LIES.length + 1];
const BOT = ROLES.cheat + LIES.length + 2;
/** wei */
const BOT_PURSE = 3n * 10n ** 16n;
/** Requests for each. */
const LOAD = { cheat: 2, honest: 5, anybody: 2 } as const;
/** More than an exclusive prover has, and than anybody has to answer; less than a window. */
const LONG_SECONDS = 601;

const addressOf = (index: number): string => getAddress(systemAccount(index).address);
const lieOf = (prover: string) => LIES[CHEATS.findIndex((index) => addressOf(index) === getAddress(prover))];
const endOf = (lie: (typeof LIES)[number]) => FAULTS[parseFault(lie).kind].fall;
let system: System;
let bot: FrontRunner;
let cases: Case[];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const serve = ["prover", "--port", "0"];
  await Promise.all([
    system.daemon("prover", ROLES.prover, serve).logged("prover is up"),
    system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]).logged("challenger is up"),
    ...LIES.map((lie, i) => system.cheat(`cheat-${i}`, ROLES.cheat + i, lie).logged("prover is up")),
  ]);
  bot = await startFrontRunner(system, BOT, BOT_PURSE);
});

afterAll(async () => {
  await bot?.stop();
  await system.stop();
});

const caseOf = ({ requestId }: Args<"Claimed">): Case | undefined =>
  cases.find((filed) => filed.requestId === requestId);
const isRight = (claimed: Args<"Claimed">): boolean => claimed.output === caseOf(claimed)?.right;
const isOver = (claimed: Args<"Claimed">): boolean =>
  system.events.all("Fell", of(claimed)).length + system.events.all("Finalized", of(claimed)).length > 0;

/** What the claim's prover has to answer. */
function owed(claimed: Args<"Claimed">): "trace" | "demand" | undefined {
  const count = (name: "Challenged" | "TraceCommitted" | "Demanded" | "Revealed"): number =>
    system.events.all(name, of(claimed)).length;
  if (count("Challenged") > 0 && count("TraceCommitted") === 0) return "trace";
  return count("Demanded") > count("Revealed") ? "demand" : undefined;
}

const isBot = ({ claim }: Args<"Claimed">): boolean => getAddress(claim.prover) === addressOf(BOT);

/** Whether a prover never gives such an answer, so that nothing but time ends its claim. */
function isSilent(claimed: Args<"Claimed">, answer: "trace" | "demand"): boolean {
  const lie = lieOf(claimed.claim.prover);
  if (lie === undefined) return isBot(claimed);
  return endOf(lie) === (answer === "trace" ? "TRACE_TIMEOUT" : "DEMAND_TIMEOUT");
}

/** Malicious challengers dispute every right claim as far as they can. */
class Mob {
  readonly #accounts: readonly Awaited<ReturnType<System["open"]>>[];
  readonly #disputed = new Map<string, Promise<void>>();
  #underWay = 0;

  constructor(accounts: readonly Awaited<ReturnType<System["open"]>>[]) {
    this.#accounts = accounts;
  }

  /** Disputes every claim that it has not disputed yet. @returns whether all its disputes are over */
  poll(): boolean {
    for (const claimed of system.events.all("Claimed", (one) => isRight(one))) {
      if (this.#disputed.has(claimed.claimId) || isOver(claimed)) continue;
      this.#underWay += 1;
      const disputes = Promise.all(this.#accounts.map((own) => this.#dispute(own, claimed)));
      this.#disputed.set(
        claimed.claimId,
        disputes.then(() => {
          this.#underWay -= 1;
        }),
      );
    }
    return this.#underWay === 0;
  }

  /** @throws what went wrong in a dispute */
  async done(): Promise<void> {
    await Promise.all(this.#disputed.values());
  }

  async #dispute(own: Awaited<ReturnType<System["open"]>>, claimed: Args<"Claimed">): Promise<void> {
    const malicious = new MaliciousChallenger(own, claimed, caseOf(claimed) as Case);
    await malicious.challenge();
    if (isBot(claimed)) return;
    const { traceRoot } = await system.events.until("TraceCommitted", of(claimed));
    await malicious.demandAll(traceRoot);
    expect(await malicious.convict()).toMatchObject({ status: "refused", revert: { name: "NoFault" } });
    await system.events.when(
      () => owed(claimed) === undefined || undefined,
      () => `Not every demand on claim ${claimed.claimId} of ${roleOf(claimed.claim.prover)} is answered`,
    );
  }
}

/** Whether so much time has passed that anybody may claim what was a cheat's alone. */
let isOpenToAll = false;

const newestOf = (filed: Case): Args<"Claimed"> | undefined =>
  system.events.all("Claimed", ({ requestId }) => requestId === filed.requestId).at(-1);

/** What a request waits for: somebody's move, the time of one who does not move, or its window. */
function stateOf(filed: Case): "final" | "window" | "silence" | "move" {
  if (system.events.all("Finalized", ({ requestId }) => requestId === filed.requestId).length > 0)
    return "final";
  const newest = newestOf(filed);
  if (newest === undefined) return "move";
  // A cheat leaves what it was caught at alone.
  if (isOver(newest))
    return lieOf(filed.request.exclusiveProver) !== undefined && !isOpenToAll ? "silence" : "move";
  const answer = owed(newest);
  if (answer !== undefined) return isSilent(newest, answer) ? "silence" : "move";
  return isRight(newest) ? "window" : "move";
}

const roleOf = (address: string): string => {
  if (getAddress(address) === addressOf(BOT)) return "the bot";
  return lieOf(address) ?? "the honest prover";
};

/** What each request that is not final waits for, and why. */
function waits(): string {
  const lines = cases.flatMap((filed, index) => {
    const state = stateOf(filed);
    if (state === "final") return [];
    const claims = system.events.all("Claimed", ({ requestId }) => requestId === filed.requestId);
    const newest = claims.at(-1);
    const { exclusiveProver } = filed.request;
    const open = `request ${index} of ${Number(exclusiveProver) === 0 ? "anybody" : roleOf(exclusiveProver)} waits (${state})`;
    if (newest === undefined) return [`${open} for its first claim`];
    const claim = `claim ${newest.claimId}, number ${claims.length}, ${isRight(newest) ? "right" : "wrong"}, by ${roleOf(newest.claim.prover)}`;
    if (isOver(newest)) return [`${open} for a claim after ${claim}, which is over`];
    const answer = owed(newest);
    if (answer === undefined) return [`${open} for a move on, or the window of, ${claim}`];
    const deadlines = system.events.all("Demanded", of(newest)).map(({ deadline }) => deadline);
    const until = answer === "demand" ? `, the last due at ${deadlines.at(-1)}` : "";
    return [`${open} for the ${answer} that is owed on ${claim}${until}, or for whoever ends it`];
  });
  return lines.join("; ");
}

describe("five dishonest provers, two malicious challengers and a copying bot", () => {
  it("behavior: every request gets its right output, every lie falls, and the honest lose nothing", async () => {
    const { events } = system;
    const mob = new Mob(
      await Promise.all(MALICIOUS.map((index) => system.open(`malicious-challenger-${index}`, index))),
    );
    const wanted = [
      ...CHEATS.flatMap((index) => Array.from({ length: LOAD.cheat }, () => index)),
      ...Array.from({ length: LOAD.honest }, () => ROLES.prover),
      ...Array.from({ length: LOAD.anybody }, () => undefined),
    ];
    cases = [];
    cases = await Promise.all(wanted.map((prover) => fileCase(system, prover)));
    for (;;) {
      const isQuiet = () => mob.poll() && cases.every((filed) => stateOf(filed) !== "move");
      await events.when(
        () => isQuiet() || undefined,
        () => `Not all is quiet: ${waits()}; disputes ${mob.poll() ? "are over" : "are under way"}`,
      );
      const late = cases
        .filter((filed) => stateOf(filed) === "silence")
        .map((filed) => ({ filed, silent: newestOf(filed)?.claimId }));
      if (late.length === 0) break;
      await system.passTime(LONG_SECONDS);
      isOpenToAll = true;
      // The next claim to a request may be one that waits for a silent one again, while others are not done.
      const isLate = ({ filed, silent }: (typeof late)[number]) =>
        stateOf(filed) === "silence" && newestOf(filed)?.claimId === silent;
      await events.when(
        () => !late.some(isLate) || undefined,
        () => `Nobody ended what is late: ${waits()}`,
      );
    }
    await mob.done();
    await system.passTime(5 * ANSWER_SECONDS + 1);
    await events.when(
      () => cases.every((filed) => stateOf(filed) === "final") || undefined,
      () => `Not all are final: ${waits()}`,
    );

    const claims = events.all("Claimed");
    const finals = events
      .all("Finalized")
      .map(({ claimId }) => claims.find((one) => one.claimId === claimId));
    expect(finals).toHaveLength(cases.length);
    expect(finals.filter((one) => one === undefined || !isRight(one))).toEqual([]);
    const fallen = events.all("Fell").map(({ claimId, reason }) => {
      const claimed = claims.find((one) => one.claimId === claimId) as Args<"Claimed">;
      return { claimed, reason: FALL_REASONS[reason] };
    });
    const lies = fallen.filter(({ claimed }) => !isRight(claimed));
    expect(lies.length).toBeGreaterThanOrEqual(LIES.length * LOAD.cheat);
    for (const { claimed, reason } of lies)
      expect(reason).toBe(endOf(lieOf(claimed.claim.prover) ?? "stall"));
    // Right claims fell only with those who make a copy of one and then are silent.
    const right = fallen.filter(({ claimed }) => isRight(claimed));
    expect(right.map(({ claimed }) => getAddress(claimed.claim.prover))).toEqual(
      right.map(() => addressOf(BOT)),
    );
    // Who watches is paid for each lie, whoever was first with each move.
    const challenger = addressOf(ROLES.challenger);
    await Promise.all(
      lies.map(({ claimed }) =>
        events.until(
          "Collected",
          (event) =>
            of(claimed)(event) &&
            getAddress(event.owner) === challenger &&
            event.amount > claimed.claim.ticketBond,
        ),
      ),
    );
    // The bot was first with moves of every kind that others can make.
    const kinds = [
      "claim",
      "challenge",
      "demand",
      "reveal",
      "convictElement",
      "timeoutTrace",
      "finalize",
      "collect",
    ];
    expect([...new Set(bot.copied)]).toEqual(expect.arrayContaining(kinds));
  });
});
