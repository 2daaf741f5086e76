/** Re-orgs of 1 to 8 blocks at every stage of an honest claim under a malicious challenger and of a wrong one. */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { type Case, fileCase, isAbout, of } from "../support/cases.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { eventWithBlock, takeBack } from "../support/reorg.ts";
import { sampled } from "../support/scale.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake: the test lets the time pass. */
const ANSWER_SECONDS = 1_200;
const [CHEAT, MALICIOUS] = [ROLES.cheat, ROLES.cheat + 1];
const DEEPEST = 8;
/** That a ticket on a claim of models/sentiment has. */
const DEMANDS = 2;
/** Far more than a round takes. */
const MAX_BLOCKS = 600;
/** Less than may be: after a re-org the chain's time is an earlier one. */
const EXCLUSIVE_SECONDS = 300;
/** Between two blocks, so that daemons have looked at the one and their moves are in the other. */
const BLOCK_MS = 200;
const DISPUTE = ["Requested", "Claimed", "Challenged", "TraceCommitted", "Demanded", "Revealed"] as const;

let system: System;
let provers: ReturnType<System["daemon"]>[];
let maliciousAccount: Awaited<ReturnType<System["open"]>>;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "manual" });
  maliciousAccount = await system.open("malicious-challenger", MALICIOUS);
  const serve = ["prover", "--port", "0"];
  provers = [system.daemon("prover", ROLES.prover, serve), system.cheat("cheat", CHEAT, "element:1")];
  await Promise.all([
    ...provers.map((prover) => prover.logged("prover is up")),
    system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]).logged("challenger is up"),
  ]);
});

afterAll(() => system.stop());

/** Makes a block. Resolves once its events are in the log. */
async function nextBlock(): Promise<void> {
  const { control, client, events } = system;
  await setTimeout(BLOCK_MS);
  await control.mine({ blocks: 1 });
  const number = await client.getBlockNumber();
  await events.when(
    () => events.head >= number || undefined,
    () => `Block ${number} is not followed`,
  );
}

/** Makes blocks until this is done. */
async function mining<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // Whoever awaits the result hears of a failure.
  done.catch(() => undefined);
  while (!isDone) await nextBlock();
  return done;
}

/** Disputes the claim as far as it can, again after each re-org, until it is told to stop. */
async function dispute(honest: Case, signal: AbortSignal): Promise<void> {
  const claimed = await honest.claimed();
  const malicious = new MaliciousChallenger(maliciousAccount, claimed, honest);
  while (!signal.aborted) {
    try {
      await malicious.challenge();
      const [committed] = system.events.all("TraceCommitted", of(claimed));
      if (committed !== undefined) await malicious.demandAll(committed.traceRoot);
    } catch {
      // What it builds on was taken back, or it is all over.
    }
    await setTimeout(BLOCK_MS);
  }
}

/** A round: one honest and one wrong claim, each of whose stages is taken back once. */
class Round {
  readonly #depth: number;
  readonly #taken = new Set<string>();

  /** @param depth blocks of each re-org */
  constructor(depth: number) {
    this.#depth = depth;
  }

  get stages(): string[] {
    return [...this.#taken].sort();
  }

  /** Makes blocks, and takes back as many as the round says whenever a stage is seen for the first time, until this is
   *  so. */
  async until(cases: ReadonlyMap<string, Case>, isSo: () => boolean): Promise<void> {
    for (let blocks = 0; !isSo(); blocks++) {
      if (blocks === MAX_BLOCKS) throw new Error(`It does not end; these stages were seen: ${this.stages}.`);
      await nextBlock();
      const stages = system.events.events.flatMap((event) => this.#stageOf(cases, event) ?? []);
      const first = stages.find(({ stage }) => !this.#taken.has(stage));
      if (first === undefined) continue;
      const { block } = first.event;
      const depth = Number(system.events.head - block.number) + 1;
      if (depth < this.#depth) await system.control.mine({ blocks: this.#depth - depth });
      // What comes with it is taken back, too.
      for (const { stage, event } of stages) if (event.block.number >= block.number) this.#taken.add(stage);
      await takeBack(system, first.event);
    }
  }

  #stageOf(cases: ReadonlyMap<string, Case>, event: ChainEvent) {
    for (const [label, filed] of cases)
      if (isAbout(system, filed, event)) return { stage: `${label} ${event.name}`, event };
    return undefined;
  }
}

describe("re-orgs under all daemons", () => {
  // The least and the most on every change.
  const depths = sampled(
    Array.from({ length: DEEPEST }, (_, i) => i + 1),
    DEEPEST - 1,
  );
  it.each(depths)("behavior: of %i blocks, at every stage of two claims", async (depth) => {
    const round = new Round(depth);
    const cases = new Map<string, Case>();
    for (const [label, index] of [
      ["honest", ROLES.prover],
      ["wrong", CHEAT],
    ] as const)
      cases.set(label, await mining(fileCase(system, index, EXCLUSIVE_SECONDS)));
    for (const { requestId } of cases.values())
      await takeBack(
        system,
        await mining(eventWithBlock(system, "Requested", (event) => event.requestId === requestId)),
      );
    const [honest, wrong] = [cases.get("honest") as Case, cases.get("wrong") as Case];
    const isOver = new AbortController();
    const disputed = dispute(honest, isOver.signal);
    const isCollected = () =>
      system.events
        .all("Claimed", ({ requestId }) => requestId === wrong.requestId)
        .some((claimed) => system.events.all("Collected", of(claimed)).length > 0);
    const isAnswered = () => {
      const [claimed] = system.events.all("Claimed", ({ requestId }) => requestId === honest.requestId);
      return claimed !== undefined && system.events.all("Revealed", of(claimed)).length === DEMANDS;
    };
    const isSettled = () => isAnswered() && isCollected();
    await round.until(cases, isSettled);
    const claimed = await honest.claimed();
    const isFinal = () => system.events.all("Finalized", of(claimed)).length > 0;
    // A re-org takes back answers, and the time that passed, too.
    while (!isFinal() || !isSettled()) {
      await round.until(cases, isSettled);
      await system.passTime(honest.request.window + ANSWER_SECONDS + 1);
      let blocks = 0;
      await round.until(cases, () => isFinal() || ++blocks > 20);
    }
    isOver.abort();
    await mining(disputed);
    // What follows takes nothing of this back.
    await system.control.mine({ blocks: DEEPEST });

    expect(round.stages).toEqual(
      [
        ...[...DISPUTE, "Finalized"].map((stage) => `honest ${stage}`),
        ...[...DISPUTE, "Fell", "Collected"].map((stage) => `wrong ${stage}`),
      ].sort(),
    );
    expect(claimed.output).toBe(honest.right);
    expect(system.events.all("Fell", of(claimed))).toEqual([]);
    const lies = system.events.all(
      "Claimed",
      ({ requestId, output }) => requestId === wrong.requestId && output !== wrong.right,
    );
    expect(lies).toHaveLength(1);
    const falls = lies.flatMap((lie) => system.events.all("Fell", of(lie)));
    expect(falls.map(({ reason }) => FALL_REASONS[reason])).toEqual(["ELEMENT"]);
    const owners = lies.flatMap((lie) => system.events.all("Collected", of(lie)).map(({ owner }) => owner));
    expect(owners).toEqual([systemAccount(ROLES.challenger).address]);
  });

  it("behavior: no prover went on looking at a block that was gone", () => {
    for (const { log } of provers) {
      const lines = readFileSync(log, "utf8").split("\n");
      expect(lines.filter((line) => line.includes("the chain was re-organized")).length).toBeGreaterThan(
        depths.length,
      );
      // A re-org that puts the same block in its place looks like a fault of the node.
      expect(lines.filter((line) => line.includes("look at block")).length).toBeLessThan(DEEPEST);
    }
  });
});
