/** Promises as an abstract machine on the real one of Assay: random games, directed ones, and what each rule is for. */
import { describe, expect, it } from "vitest";
import { PROMISE_RULES, type PromiseRules } from "../../../protocol/rules/promises/rules.ts";
import { type PromiseOutcome, playPromises } from "../../support/promises/promise-game.ts";
import { FOUND_BY, MUTANTS, NOT_IN_GAMES } from "../../support/promises/promise-mutants.ts";
import { SCENARIOS } from "../../support/promises/promise-scenarios.ts";
import { PromiseViolation } from "../../support/promises/promise-table.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const GAMES = scaled(500, 2_000, 10_000);
/** Random games in which a rule that no directed game is about must be missed. */
const SEARCHED = 200;

const violationOf = (play: () => unknown): PromiseViolation | undefined => {
  try {
    play();
  } catch (error) {
    if (error instanceof PromiseViolation) return error;
    throw error;
  }
  return undefined;
};

function firstViolation(rules: PromiseRules): PromiseViolation | undefined {
  for (let seed = 0; seed < SEARCHED; seed += 1) {
    const found = violationOf(() => playPromises(createRng(seed), rules));
    if (found !== undefined) return found;
  }
  return undefined;
}

describe("playPromises", () => {
  it("behavior: no property breaks, every move is made and refused, and cheats are convicted", () => {
    const moved = new Map<string, number>();
    const refused = new Set<string>();
    const sums = { wrong: 0, convicted: 0, usedUp: 0, batchesFallen: 0, batchesFinal: 0 };
    for (let seed = 0; seed < GAMES; seed += 1) {
      const outcome: PromiseOutcome = playPromises(createRng(seed));
      const { table, convicted, usedUp, batchesFallen, batchesFinal } = outcome;
      for (const [kind, count] of table.moved) moved.set(kind, (moved.get(kind) ?? 0) + count);
      for (const refusal of table.refused.keys()) refused.add(refusal);
      sums.wrong += table.accepted.filter(({ isWrong }) => isWrong).length;
      sums.convicted += convicted;
      sums.usedUp += usedUp;
      sums.batchesFallen += batchesFallen;
      sums.batchesFinal += batchesFinal;
    }
    process.stdout.write(
      `${GAMES} games of promises: ${JSON.stringify({ ...sums, ...Object.fromEntries(moved) })}\n`,
    );
    // Games in which nothing happens would prove nothing.
    expect([...moved.keys()].sort().join(" ")).toMatchInlineSnapshot(
      `"announceExit assay close commitTrace deposit dropLeaf exit nextLeaf open openLeaf openNext passNext post pullBurn release setSigner takeBack withdraw"`,
    );
    expect(refused.size).toBeGreaterThan(50);
    expect(sums.convicted).toBeGreaterThan(GAMES / 4);
    expect(sums.usedUp).toBeGreaterThan(GAMES / 100);
    expect(sums.batchesFallen).toBeGreaterThan(GAMES / 20);
    expect(sums.batchesFinal).toBeGreaterThan(GAMES);
  });

  it.each(Object.entries(SCENARIOS))("behavior: the rules hold where %s", (_name, play) => {
    expect(violationOf(() => play(PROMISE_RULES))).toBeUndefined();
  });
});

describe("mutants of the rules of promises", () => {
  it.each(MUTANTS.filter(([name]) => !(name in NOT_IN_GAMES)))(
    "behavior: games lose without: %s",
    (name, rules) => {
      const scenario = FOUND_BY[name];
      const found =
        scenario === undefined ? firstViolation(rules) : violationOf(() => SCENARIOS[scenario]?.(rules));
      expect(found, `no game of ${scenario ?? `${SEARCHED} random ones`} loses`).toBeInstanceOf(
        PromiseViolation,
      );
    },
  );

  it("behavior: every directed game is lost without some rule", () => {
    expect([...new Set(Object.values(FOUND_BY))].sort()).toEqual(Object.keys(SCENARIOS).sort());
  });
});
