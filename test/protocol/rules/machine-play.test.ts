import { describe, expect, test } from "vitest";
import { RULES, type Rules } from "../../../protocol/rules/machine.ts";
import { type Outcome, playGame, Violation } from "../../support/game.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const GAMES = scaled(4_000, 20_000);

/** First violation among the games of these rules. */
function firstViolation(rules: Rules, games: number): Violation | undefined {
  for (let seed = 0; seed < games; seed += 1) {
    try {
      playGame(createRng(seed), rules);
    } catch (error) {
      if (error instanceof Violation) return error;
      throw error;
    }
  }
  return undefined;
}

describe("random play", () => {
  test("behavior: no invariant breaks, and every kind of ending occurs", () => {
    const endings = new Map<string, number>();
    let moves = 0;
    for (let seed = 0; seed < GAMES; seed += 1) {
      const outcome: Outcome = playGame(createRng(seed), RULES);
      const ending = `${outcome.isHonest ? "honest" : "wrong"} ${outcome.state} ${outcome.fall}`;
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
      moves += outcome.moves;
    }
    // Games in which nobody moves would prove nothing.
    expect(moves / GAMES).toBeGreaterThan(12);
    const often = [...endings].filter(([, count]) => count >= GAMES / 500).map(([ending]) => ending);
    expect(often.sort()).toMatchInlineSnapshot(`
      [
        "honest FINAL NONE",
        "wrong FALLEN DEMAND_TIMEOUT",
        "wrong FALLEN ELEMENT",
        "wrong FALLEN OUTPUT",
        "wrong FALLEN TRACE_TIMEOUT",
        "wrong FALLEN TRUTH",
        "wrong FINAL NONE",
      ]
    `);
  });
});

describe("mutants of the rules", () => {
  const mutants: Record<string, Partial<Rules>> = {
    "quota per claim": {
      demandsUsed: ({ tickets }) => [...tickets.values()].reduce((sum, { demands }) => sum + demands, 0),
    },
    "no hardEnd": {
      finalAt: ({ windowEnd, lastEvent }, answerSeconds) =>
        lastEvent === 0 ? windowEnd : Math.max(windowEnd, lastEvent + answerSeconds + 1),
      lastDemandAt: () => Number.MAX_SAFE_INTEGER,
    },
    "L one second short": { disputeSeconds: (depth, answerSeconds) => (2 * depth + 2) * answerSeconds },
    "lastEvent not moved by a reveal": { lastEventAfterReveal: ({ lastEvent }) => lastEvent },
  };
  test.each(Object.entries(mutants))("behavior: %s is found", (_name, mutation) => {
    expect(firstViolation({ ...RULES, ...mutation }, GAMES)).toBeInstanceOf(Violation);
  });
});
