/** Whole games between the daemons' own decisions, second by second, over real traces. Throws a GameViolation when
 *  a property breaks. */
import type { decide } from "../../challenger/decide.ts";
import { isFinal, ledgerOf, RULES } from "../../protocol/rules/machine.ts";
import type { FallReason } from "../../protocol/rules/types.ts";
import { ChallengerPlayer, type Player, proverOf, sybilOf, truthOf } from "./dispute-players.ts";
import { DisputeTable, type GamePlace, type GamePlan, GameViolation } from "./dispute-table.ts";
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

/** @param place where the same moves are to be made on contracts
 *  @returns the table as the game left it, and what became of it */
export function playDispute(
  run: HonestRun,
  plan: GamePlan,
  rule: typeof decide,
  place?: GamePlace,
): Outcome & { readonly table: DisputeTable } {
  const table = new DisputeTable(run, plan, place);
  const challengers = plan.challengers.map((_, i) => new ChallengerPlayer(table, rule, i));
  const players: Player[] = [
    ...challengers,
    proverOf(table),
    ...plan.sybils.map((_, i) => sybilOf(table, i)),
    ...plan.truths.map((_, i) => truthOf(table, i)),
  ];
  const finality = new FinalityWatch(table);
  table.onMove = () => {
    for (const challenger of challengers) challenger.think();
    finality.poll();
  };
  const { word } = table.claim();
  const limit = word.windowEnd + RULES.disputeSeconds(word.depth, plan.answerSeconds);
  // What was final or late by the limit is booked and collected within an answer time.
  for (; table.now <= limit + 2 * plan.answerSeconds + 1; table.now += 1) {
    finality.poll();
    for (const challenger of challengers) challenger.plan();
    for (const player of shuffled(table.rng, players)) player.act();
  }
  if (!table.isWrong) endAsStranger(table);
  const { word: end, tickets, demands } = table.claim();
  if (end.state === "ACTIVE") throw new GameViolation(`the claim is open after ${limit}`);
  if (plan.lie === undefined && end.state !== "FINAL")
    throw new GameViolation(`an honest claim fell by ${end.fall}`);
  if (table.isWrong && end.state !== "FALLEN") throw new GameViolation("a wrong claim became final");
  for (const { address, moves } of challengers) {
    const ticket = tickets.get(address);
    const isPaid = ticket?.collected === true;
    // One that truth or another's conviction forestalled has no ticket, and lost nothing.
    if (table.isWrong && ticket !== undefined && !isPaid)
      throw new GameViolation("a challenger was not paid");
    // A ticket, d demands, an end, a collection.
    if (moves.length > end.depth + 3) throw new GameViolation(`moves: ${moves}`);
  }
  const outcome = {
    state: end.state,
    fall: end.fall,
    isWrong: table.isWrong,
    depth: end.depth,
    demands: demands.size,
    moves: challengers.flatMap(({ moves }) => moves),
    forestalled: challengers.reduce((sum, { forestalled }) => sum + forestalled, 0),
  };
  emptyContract(table);
  return { ...outcome, table };
}

/** INVARIANT 5: what is final stays final, with its output. */
class FinalityWatch {
  readonly #table: DisputeTable;
  #since: number | undefined;

  constructor(table: DisputeTable) {
    this.#table = table;
  }

  poll(): void {
    const { now, plan } = this.#table;
    const { word } = this.#table.claim();
    if (isFinal(word, plan.answerSeconds, now)) this.#since ??= now;
    else if (this.#since !== undefined) {
      throw new GameViolation(`final at ${this.#since}, ${word.state} at ${now}`);
    }
  }
}

/** A right claim whose prover stopped answering is nobody's dispute, but anybody can end it. */
function endAsStranger(table: DisputeTable): void {
  const common = { from: WHO.stranger, now: table.now, claimId: table.claimId };
  const { word, demands } = table.claim();
  if (word.state !== "ACTIVE") return;
  table.attempt({ kind: "timeoutTrace", ...common });
  for (const position of demands.keys()) table.attempt({ kind: "timeoutDemand", ...common, position });
}

/** Everybody takes what is theirs, each ticket the same; an open request is claimed anew, or its fee goes back. Nothing
 *  is left but what is burned. */
function emptyContract(table: DisputeTable): void {
  const { claimId, requestId, rng, request } = table;
  table.onMove = () => undefined;
  const from = WHO.stranger;
  const isOpen = () => table.state.requests.get(requestId)?.word.state === "OPEN";
  if (isOpen() && rng.chance(0.5)) {
    const second = table.claimAs(WHO.secondProver, table.run.output);
    table.now += request.window;
    table.attempt({ kind: "finalize", from, now: table.now, claimId: second });
  }
  for (const owner of shuffled(rng, [...table.claim().tickets.keys()])) {
    table.attempt({ kind: "collect", from, now: table.now, claimId, owner });
  }
  if (isOpen()) {
    table.now = request.expiry + 1;
    table.attempt({ kind: "refund", from, now: table.now, requestId });
  }
  for (const account of [...table.state.credits.keys()]) {
    table.attempt({ kind: "withdraw", from: account, now: table.now });
  }
  const { bonds, fees, credits } = ledgerOf(table.state);
  if (bonds + fees + credits !== 0n) throw new GameViolation(`${bonds + fees + credits} wei are locked`);
}
