import { beforeAll, describe, expect, test } from "vitest";
import { loadArtifacts } from "../../../cli/artifacts.ts";
import { isFinal, ledgerOf, type Move } from "../../../protocol/rules/machine.ts";
import { LANE, type ModelId } from "../../../protocol/rules/types.ts";
import { gameConstants } from "../../support/dispute-table.ts";
import { echoModel, type Side } from "../../support/echo-model.ts";
import { EvmWorld } from "../../support/evm-world.ts";
import { scaled } from "../../support/scale.ts";
import {
  type Explored,
  explore,
  ONLY_POSITION,
  PLAYERS,
  type Rule,
  type Scene,
} from "../../support/state-space.ts";
import { compileTruthParts } from "../../support/truth-parts.ts";

/** T, seconds. */
const ANSWER_SECONDS = 1;
const model = echoModel(1, 4);
let world: EvmWorld;
let modelId: ModelId;

beforeAll(async () => {
  const artifacts = { ...loadArtifacts(), ProofLane: compileTruthParts().Liar };
  world = await EvmWorld.open(artifacts, gameConstants(ANSWER_SECONDS));
  ({ modelId } = await world.register(model.program, model.identity));
});

const kindsOf = (moves: readonly Move[]): readonly string[] =>
  [...new Set(moves.map(({ kind }) => kind))].sort();
const deadlines = ({ claim }: Scene): number[] => {
  const { word, traceRoot, demands } = claim;
  const owed = [...demands.values()].filter(({ answered }) => !answered).map(({ deadline }) => deadline);
  return word.traceDeadline !== 0 && traceRoot === undefined ? [word.traceDeadline, ...owed] : owed;
};

/** DESIGN section 7 in one state, whoever played. */
function checkAny(scene: Scene, allowed: readonly Move[]): void {
  const { claim, now, state, requestId } = scene;
  const { word } = claim;
  // 1
  const { credits, bonds, fees, burned, withdrawn } = ledgerOf(state);
  expect(credits + bonds + fees + burned + withdrawn).toBe(state.received);
  // 4: behind filing + W + L somebody can end it.
  const bound = word.windowEnd + (2 * word.depth + 2) * ANSWER_SECONDS + 1;
  const ends = kindsOf(allowed).filter((kind) =>
    ["finalize", "timeoutTrace", "timeoutDemand"].includes(kind),
  );
  if (word.state === "ACTIVE" && now >= bound) expect(ends).not.toEqual([]);
  // 5: what is final stays so, and nothing but booking it is possible; before, it cannot be booked.
  const final = isFinal(word, ANSWER_SECONDS, now);
  if (final) expect(isFinal(word, ANSWER_SECONDS, now + 1)).toBe(true);
  if (final) expect(kindsOf(allowed)).toEqual(word.state === "ACTIVE" ? ["finalize"] : []);
  else expect(kindsOf(allowed)).not.toContain("finalize");
  if (state.requests.get(requestId)?.word.state === "DONE") expect(kindsOf(allowed)).not.toContain("settle");
  // 2: no timeout while there is time to answer.
  const timedOut = allowed.some(({ kind }) => kind.startsWith("timeout"));
  if (timedOut) expect(Math.min(...deadlines(scene))).toBeLessThan(now);
}

/** 2: whatever others do, a right claim with an honest trace does not fall while each answer comes by its last second. */
const honestProver: Rule = {
  mayPass: (scene) =>
    scene.claim.word.state !== "ACTIVE" || deadlines(scene).every((deadline) => scene.now < deadline),
  check(scene, allowed) {
    checkAny(scene, allowed);
    expect(scene.claim.word.state).not.toBe("FALLEN");
    expect(kindsOf(allowed)).not.toContain("convict");
    if (!this.mayPass(scene))
      expect(kindsOf(allowed).some((kind) => /commitTrace|reveal/.test(kind))).toBe(true);
  },
};

/** What Ann, who is honest, has to do in this second at the latest: a ticket, a demand, a conviction, an end. */
function dueOf({ claim, now }: Scene): string | undefined {
  const { word, tickets, traceRoot, demands } = claim;
  if (word.state !== "ACTIVE") return undefined;
  if (!tickets.has(PLAYERS.ann)) return now >= word.windowEnd - 1 ? "challenge" : undefined;
  if (traceRoot === undefined) return now > word.traceDeadline ? "timeoutTrace" : undefined;
  const demand = demands.get(ONLY_POSITION);
  const isTurn = now >= word.lastEvent + ANSWER_SECONDS;
  if (demand === undefined) return isTurn ? "demand" : undefined;
  if (!demand.answered) return now > demand.deadline ? "timeoutDemand" : undefined;
  return isTurn ? "convict" : undefined;
}

/** 3: whatever others do, a wrong claim falls. */
const honestChallenger: Rule = {
  mayPass: (scene) => dueOf(scene) === undefined,
  check(scene, allowed) {
    checkAny(scene, allowed);
    const { word } = scene.claim;
    expect(isFinal(word, ANSWER_SECONDS, scene.now)).toBe(false);
    const due = dueOf(scene);
    if (due !== undefined) expect(kindsOf(allowed)).toContain(due);
  },
};
const anybody: Rule = { mayPass: () => true, check: checkAny };

const RULES = {
  anybody,
  "an honest prover": honestProver,
  "an honest challenger": honestChallenger,
} as const;
/** Who plays, the claimed output, the trace. */
const SPACES: readonly [rule: keyof typeof RULES, output: Side, trace: Side][] = [
  ["an honest prover", "right", "right"],
  ["an honest challenger", "wrong", "wrong"],
  ["an honest challenger", "wrong", "right"],
  ["anybody", "right", "right"],
  ["anybody", "wrong", "wrong"],
  ["anybody", "right", "wrong"],
];
const PLAYED = scaled(SPACES.slice(0, 2), SPACES.slice(2, 4), SPACES);

describe("every state of a claim", () => {
  test.each(PLAYED)("behavior: %s, output %s, trace %s", async (rule, output, trace) => {
    const challengers = scaled([PLAYERS.ann], [PLAYERS.ann, PLAYERS.ben]);
    const truths = scaled<readonly (1 | 2)[]>([LANE.PROOF], [LANE.EXECUTION, LANE.PROOF]);
    const space = { model, modelId, output, trace, challengers, positions: [ONLY_POSITION], truths };
    const explored: Explored = await explore(world, space, RULES[rule]);
    const { states, moves, refusals, ends } = explored;
    process.stdout.write(
      `${rule}, output ${output}, trace ${trace}, ${challengers.length} tickets: ${states} states, ${moves} moves, ${refusals} refusals, ends ${JSON.stringify(ends)}\n`,
    );
    // Rules that nothing tries would prove nothing.
    expect(states).toBeGreaterThan(50);
    expect(Object.keys(ends).length).toBeGreaterThan(1);
  });
});
