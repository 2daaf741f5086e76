import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type Dispute, decide } from "../../challenger/decide.ts";
import { demandDepth } from "../../inference/program/shape.ts";
import { type Outcome, playDispute } from "../support/dispute-game.ts";
import { type GamePlan, GameViolation } from "../support/dispute-table.ts";
import { type HonestRun, honestRun } from "../support/lies.ts";
import { randomProgram } from "../support/random-program.ts";
import { createRng } from "../support/rng.ts";
import { scaled } from "../support/scale.ts";

const GAMES = scaled(500, 3_000);

/** Programs of every opcode, some hostile, a quarter of them with more than 64 steps. */
const RUNS: readonly HonestRun[] = Array.from({ length: 40 }, (_, seed) => {
  const rng = createRng(seed);
  const steps = seed % 4 === 3 ? 70 : rng.int(0, 5);
  return honestRun(randomProgram(rng, { hostile: rng.chance(0.3), steps }));
});

const number = fc.nat({ max: 2 ** 20 });
const pace = fc.constantFrom("quick", "late", "late", "any");
/** There in one case of so many. */
const rarely = <T>(oneIn: number, part: fc.Arbitrary<T>) =>
  fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: part });
const BYTE = fc.record({ step: number, at: number, flip: fc.integer({ min: 1, max: 255 }) });
const LIE = fc.record({
  bytes: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 6, arbitrary: fc.array(BYTE, { minLength: 1, maxLength: 3 }) },
  ),
  follows: fc.boolean(),
  garbageIn: rarely(8, number),
  rootOf: rarely(12, number),
  output: fc.constantFrom("own", "own", "own", "own", "other", "honest"),
});
const PLAN = fc.record({
  lie: fc.option(LIE, { nil: undefined, freq: 4 }),
  answerSeconds: fc.integer({ min: 1, max: 4 }),
  longer: fc.nat({ max: 6 }),
  prover: fc.record({
    pace,
    stallsAt: rarely(10, fc.nat({ max: 3 })),
    lateAt: rarely(10, fc.nat({ max: 3 })),
    garbage: fc.boolean(),
  }),
  challenger: fc.record({ pace, filesAt: fc.oneof(fc.constant(0), fc.nat({ max: 30 })) }),
  plants: fc.array(
    fc.record({
      isProver: fc.boolean(),
      filesAt: fc.nat({ max: 30 }),
      style: fc.constantFrom("burst", "copy", "stall", "any"),
    }),
    { maxLength: 4 },
  ),
  seed: fc.integer(),
}) as fc.Arbitrary<GamePlan>;

/** Plays games; throws with the smallest plan that breaks a property. */
function playAll(rule: typeof decide): Outcome[] {
  const outcomes: Outcome[] = [];
  const game = fc.property(fc.nat({ max: RUNS.length - 1 }), PLAN, (program, plan) => {
    outcomes.push(playDispute(RUNS[program] as HonestRun, plan, rule));
  });
  fc.assert(game, { numRuns: GAMES, seed: 20_261_122 });
  return outcomes;
}

describe("decide over whole games", () => {
  it("behavior: every wrong claim falls, no honest one does, and no move is illegal", () => {
    const outcomes = playAll(decide);
    const count = (test: (outcome: Outcome) => boolean) => outcomes.filter(test).length;
    const endings = new Set(
      outcomes.map(({ isWrong, state, fall }) => `${isWrong ? "wrong" : "right"} ${state} ${fall}`),
    );
    // Games in which nothing happens would prove nothing.
    expect([...endings].sort()).toMatchInlineSnapshot(`
      [
        "right FALLEN DEMAND_TIMEOUT",
        "right FALLEN TRACE_TIMEOUT",
        "right FINAL NONE",
        "wrong FALLEN CODEC",
        "wrong FALLEN DEMAND_TIMEOUT",
        "wrong FALLEN ELEMENT",
        "wrong FALLEN OUTPUT",
        "wrong FALLEN TRACE_TIMEOUT",
      ]
    `);
    expect(Math.max(...RUNS.map(({ prepared }) => demandDepth(prepared.program)))).toBeGreaterThan(2);
    expect(count(({ isWrong }) => isWrong)).toBeGreaterThan(GAMES / 4);
    expect(count(({ isWrong, state }) => !isWrong && state === "FINAL")).toBeGreaterThan(GAMES / 8);
    expect(count(({ moves }) => moves.filter((move) => move === "demand").length > 1)).toBeGreaterThan(
      GAMES / 20,
    );
    expect(count(({ forestalled }) => forestalled > 0)).toBeGreaterThan(GAMES / 100);
  });

  it.each<[string, typeof decide]>([
    [
      "relies on another's ticket",
      (dispute) => (dispute.entry.challengers.size > 0 ? withTicket(dispute) : decide(dispute)),
    ],
    ["ends no missed deadline", (dispute) => decide({ ...dispute, now: Math.min(dispute.now, 1_001) })],
  ])("behavior: a challenger that %s is found to lose", (_what, rule) => {
    const broken = vi.fn(() => playAll(rule));
    expect(broken).toThrow("Property failed");
    expect(broken.mock.results[0]?.value.cause).toBeInstanceOf(GameViolation);
  });
});

/** Decides as if the challenger held a ticket. */
const withTicket = (dispute: Dispute) =>
  decide({ ...dispute, entry: { ...dispute.entry, challengers: new Set([dispute.own]) } });
