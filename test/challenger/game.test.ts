import fc from "fast-check";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Dispute, decide } from "../../challenger/decide.ts";
import { loadArtifacts } from "../../cli/artifacts.ts";
import { randomProgram } from "../../conformance/generate/random-program.ts";
import { runningModel } from "../../conformance/generate/running-model.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import { demandDepth } from "../../inference/program/shape.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { type ContractGame, replayOnContracts } from "../support/contract-game.ts";
import { type Outcome, playDispute } from "../support/dispute-game.ts";
import { type GamePlan, GameViolation, gameConstants, lanesOf } from "../support/dispute-table.ts";
import { EvmWorld } from "../support/evm-world.ts";
import { type HonestRun, honestRun } from "../support/lies.ts";
import { createRng } from "../support/rng.ts";
import { scaled } from "../support/scale.ts";
import { compileTruthParts } from "../support/truth-parts.ts";

const GAMES = scaled(400, 1_000, 2_500);
/** 10,000 games in the nightly suite. */
const SEEDS = scaled([20_261_122], [2], [20_261_122, 2, 3, 4]);

/** Programs of every opcode, some hostile, a quarter of them with more than 64 steps. The chain settles by execution all of
 *  them that have no DOT activations: a run takes at most ExecutionLane.MAX_GAS. */
const RANDOM: readonly HonestRun[] = Array.from({ length: 40 }, (_, seed) => {
  const rng = createRng(seed);
  const steps = seed % 4 === 3 ? 45 : rng.int(0, 5);
  return honestRun(randomProgram(rng, { hostile: rng.chance(0.3), steps }));
});

/** Programs that read the claimed output, some with tensors that take more than one demand. */
const CLAIMED: readonly HonestRun[] = [1, 7, 31, 33, 100, 130].map((tokens) => {
  const rng = createRng(tokens);
  const [model, selector] = [runningModel(rng, tokens), rng.bytes(4)];
  const bytes = rng.bytes(tokens);
  return honestRun({
    model,
    selector,
    calldata: encodeInput(model.program, selector, { codec: "raw", bytes }),
  });
});

const RUNS: readonly HonestRun[] = [...RANDOM, ...CLAIMED];

const VERIFICATION_KEY_HASH = new Uint8Array(32).fill(7);
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
const TRUTH = fc.record({
  at: fc.nat({ max: 30 }),
  // The chain takes its time to execute a program here.
  lane: fc.constantFrom(LANE.EXECUTION, LANE.PROOF, LANE.PROOF, LANE.PROOF),
  isRight: fc.boolean(),
  hasProof: fc.boolean(),
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
  challengers: fc.array(fc.record({ pace, filesAt: fc.oneof(fc.constant(0), fc.nat({ max: 30 })) }), {
    minLength: 1,
    maxLength: 3,
  }),
  sybils: fc.array(
    fc.record({
      isProver: fc.boolean(),
      filesAt: fc.nat({ max: 30 }),
      style: fc.constantFrom("burst", "copy", "stall", "any"),
    }),
    { maxLength: 4 },
  ),
  truths: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(TRUTH, { minLength: 1, maxLength: 2 }) },
  ),
  seed: fc.integer(),
}) as fc.Arbitrary<GamePlan>;

/** Where each program is registered, and the contracts for each T. */
interface Place {
  readonly modelId: ModelId;
  readonly word: bigint;
}
let worlds: readonly EvmWorld[];
const places: Place[] = [];

beforeAll(async () => {
  const artifacts = { ...loadArtifacts(), ProofLane: compileTruthParts().Liar };
  const first = await EvmWorld.open(artifacts, gameConstants(1));
  const others = [];
  for (const t of [2, 3, 4]) others.push(await first.another(artifacts.Assay, gameConstants(t)));
  worlds = [first, ...others];
  for (const { prepared } of RUNS) {
    const { program } = prepared;
    const commitment = commitModel(prepared.model);
    const { selector } = prepared;
    const identity = { ...commitment, selector, lanes: lanesOf(program), vkHash: VERIFICATION_KEY_HASH };
    const { modelId, events } = await first.register(program, identity);
    const [event] = events;
    if (event?.name === "ModelRegistered") places.push({ modelId, word: event.args.word });
  }
  expect(places).toHaveLength(RUNS.length);
});

/** Plays games; throws with the smallest plan that breaks a property. */
function playAll(rule: typeof decide): Outcome[] {
  const outcomes: Outcome[] = [];
  const game = fc.property(fc.nat({ max: RUNS.length - 1 }), PLAN, (program, plan) => {
    outcomes.push(playDispute(RUNS[program] as HonestRun, plan, rule));
  });
  fc.assert(game, { numRuns: GAMES, seed: SEEDS[0] as number });
  return outcomes;
}

/** The same with every move made on the contracts too. */
async function playAllOnContracts(seed: number): Promise<{
  readonly outcomes: readonly Outcome[];
  readonly games: readonly ContractGame[];
}> {
  const outcomes: Outcome[] = [];
  const games: ContractGame[] = [];
  const game = fc.asyncProperty(fc.nat({ max: RUNS.length - 1 }), PLAN, async (index, plan) => {
    const { modelId, word } = places[index] as Place;
    const world = worlds[plan.answerSeconds - 1] as EvmWorld;
    const { table, ...outcome } = playDispute(RUNS[index] as HonestRun, plan, decide, {
      ...{ game: world.game, modelId },
    });
    outcomes.push(outcome);
    games.push(await world.undone(() => replayOnContracts(world, table, word)));
  });
  await fc.assert(game, { numRuns: GAMES, seed });
  return { outcomes, games };
}

describe("decide over whole games", () => {
  it.each(SEEDS)(
    "behavior: every wrong claim falls, no honest one does, and contracts and machine agree on every move (%i)",
    async (seed) => {
      const { outcomes, games } = await playAllOnContracts(seed);
      const made = countOf(games.flatMap(({ accepted }) => accepted));
      const refused = countOf(games.flatMap((game) => game.refused));
      process.stdout.write(`${games.length} games on the contracts: ${JSON.stringify({ made, refused })}\n`);
      expect(Object.keys(made).sort().join(" ")).toMatchInlineSnapshot(
        `"challenge claim collect commitTrace convict demand finalize refund request reveal settle timeoutDemand timeoutTrace withdraw"`,
      );
      expect(Object.keys(refused).length).toBeGreaterThan(12);
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
          "wrong FALLEN TRUTH",
        ]
      `);
      expect(Math.max(...RUNS.map(({ prepared }) => demandDepth(prepared.program)))).toBeGreaterThan(2);
      expect(count(({ isWrong }) => isWrong)).toBeGreaterThan(GAMES / 4);
      expect(count(({ isWrong, state }) => !isWrong && state === "FINAL")).toBeGreaterThan(GAMES / 8);
      expect(count(({ moves }) => moves.filter((move) => move === "demand").length > 1)).toBeGreaterThan(
        GAMES / 20,
      );
      expect(count(({ forestalled }) => forestalled > 0)).toBeGreaterThan(GAMES / 100);
    },
  );

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

const countOf = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};
