/** Whole games between the daemons' own decisions, second by second, over real traces. Throws a GameViolation when
 *  a property breaks. */
import type { decide } from "../../challenger/decide.ts";
import { RULES } from "../../protocol/machine.ts";
import type { FallReason } from "../../protocol/terms.ts";
import { ChallengerPlayer, type Player, plantOf, proverOf } from "./dispute-players.ts";
import { DisputeTable, type GamePlan, GameViolation } from "./dispute-table.ts";
import { shuffled, WHO } from "./game-table.ts";
import type { HonestRun } from "./lies.ts";

export interface Outcome {
  readonly state: string;
  readonly fall: FallReason;
  readonly isWrong: boolean;
  readonly depth: number;
  readonly demands: number;
  /** the challenger's moves that were accepted, and those that somebody else made first */
  readonly moves: readonly string[];
  readonly forestalled: number;
}

export function playDispute(run: HonestRun, plan: GamePlan, rule: typeof decide): Outcome {
  const table = new DisputeTable(run, plan);
  const challenger = new ChallengerPlayer(table, rule);
  const players: Player[] = [challenger, proverOf(table), ...plan.plants.map((_, i) => plantOf(table, i))];
  table.onMove = () => challenger.think();
  const { word } = table.claim();
  const limit = word.windowEnd + RULES.disputeSeconds(word.depth, plan.answerSeconds);
  // What was final or late by the limit is booked and collected within an answer time.
  for (; table.now <= limit + 2 * plan.answerSeconds + 1; table.now += 1) {
    challenger.plan();
    for (const player of shuffled(table.rng, players)) player.act();
  }
  if (!table.isWrong) endAsStranger(table);
  const { word: end, tickets, demands } = table.claim();
  const ticket = tickets.get(WHO.honest);
  if (end.state === "ACTIVE") throw new GameViolation(`the claim is open after ${limit}`);
  if (plan.lie === undefined && end.state !== "FINAL")
    throw new GameViolation(`an honest claim fell by ${end.fall}`);
  if (table.isWrong && end.state !== "FALLEN") throw new GameViolation("a wrong claim became final");
  if (table.isWrong && ticket?.collected !== true) throw new GameViolation("the challenger was not paid");
  // A ticket, d demands, an end, a collection.
  if (challenger.moves.length > end.depth + 3) throw new GameViolation(`moves: ${challenger.moves}`);
  return {
    state: end.state,
    fall: end.fall,
    isWrong: table.isWrong,
    depth: end.depth,
    demands: demands.size,
    moves: challenger.moves,
    forestalled: challenger.forestalled,
  };
}

/** A right claim whose prover stopped answering is nobody's dispute, but anybody can end it. */
function endAsStranger(table: DisputeTable): void {
  const common = { from: WHO.stranger, now: table.now, claimId: table.claimId };
  const { word, demands } = table.claim();
  if (word.state !== "ACTIVE") return;
  table.attempt({ kind: "timeoutTrace", ...common });
  for (const position of demands.keys()) table.attempt({ kind: "timeoutDemand", ...common, position });
}
