/** A game that was played on the machine, played again on the contracts: each move must have the same answer, leave the
 *  same words, and be told by events that an audit finds in order. */
import type { Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import { actionOf } from "../../challenger/act.ts";
import { topsOf } from "../../inference/commit/reveal.ts";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import { Audit, factsOf } from "../../protocol/chain/audit/audit.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { isFinal } from "../../protocol/rules/machine.ts";
import { claimSlot, REQUEST_WORD_BITS, requestSlot } from "../../protocol/rules/storage-slots.ts";
import type { Claim, ClaimId } from "../../protocol/rules/types.ts";
import { decodeClaimWord, decodeRequestWord } from "../../protocol/rules/words.ts";
import { type Attempt, type DisputeTable, GameViolation } from "./dispute-table.ts";
import { BASE_FEE, type EvmWorld } from "./evm-world.ts";

/** Other names that the contract has for what the machine refuses: it looks at data before it folds them. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  TraceMismatch: ["WrongLength", "NotCanonical", "PaddingNotZero"],
};

export interface ContractGame {
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
  readonly events: number;
}

/** @param modelWord of the game's model, as the registry says
 *  @throws GameViolation where contracts and machine differ, or a rule of the audit breaks */
export async function replayOnContracts(
  world: EvmWorld,
  table: DisputeTable,
  modelWord: bigint,
): Promise<ContractGame> {
  const { game, constants } = world;
  const audit = new Audit({ game, constants, isWhole: true });
  const facts = factsOf(modelWord);
  if (facts !== undefined) audit.learn(table.request.modelId, facts);
  const actions = new Actions(game);
  const accepted: string[] = [];
  const refused = new Set<string>();
  let state = table.start;
  const take = (events: readonly ChainEvent[], timestamp: number) => {
    for (const event of events) {
      const breach = audit.take(event, { timestamp, baseFee: BASE_FEE });
      if (breach !== undefined) throw new GameViolation(`the audit finds ${breach.rule}: ${breach.why}`);
    }
  };
  for (const attempt of table.attempts) {
    const { move, result } = attempt;
    const label = `${move.kind} at ${move.now}`;
    if (!result.ok) {
      // The same refusal again and again says nothing new.
      const name = `${move.kind} ${result.refusal}`;
      if (refused.has(name)) continue;
      refused.add(name);
    }
    const claims = state.claims;
    const action = contractMove(table, actions, attempt, (id) => claims.get(id)?.claim as Claim);
    const { refusal, events } = await world.send(move.from, action, move.now);
    const expected = result.ok ? undefined : result.refusal;
    if (refusal !== expected && !(expected !== undefined && ALSO[expected]?.includes(refusal ?? ""))) {
      throw new GameViolation(
        `${label}: the contract says ${refusal ?? "yes"}, the machine ${expected ?? "yes"}`,
      );
    }
    if (!result.ok) continue;
    accepted.push(move.kind);
    state = result.state;
    take(events, move.now);
    await compare(world, state, move.now, label);
    const { credits, held, burned } = audit.totals().money;
    const balance = await world.balance(game.assay);
    if (balance !== credits + held + burned) {
      throw new GameViolation(
        `${label}: the contract holds ${balance}, by its books ${credits + held + burned}`,
      );
    }
  }
  const breach = audit.end();
  if (breach !== undefined) throw new GameViolation(`the audit finds ${breach.rule}: ${breach.why}`);
  return { accepted, refused: [...refused], events: audit.totals().events };
}

/** Words of the request and of every claim, and whether each reads as final. */
async function compare(
  world: EvmWorld,
  state: DisputeTable["state"],
  now: number,
  label: string,
): Promise<void> {
  const same = (what: string, actual: unknown, required: unknown) => {
    const [a, b] = [JSON.stringify(actual), JSON.stringify(required)];
    if (a !== b) throw new GameViolation(`${label}: ${what} is ${a} on the chain, ${b} in the machine`);
  };
  for (const [id, { word }] of state.requests) {
    const actual = BigInt.asUintN(REQUEST_WORD_BITS, await world.stored(requestSlot(id)));
    same("the request", decodeRequestWord(actual), word);
  }
  for (const [id, { word }] of state.claims) {
    same("the claim", decodeClaimWord(await world.stored(claimSlot(id))), word);
    // The view itself, where it can have changed its mind.
    if (word.pending > 0 || now % 4 !== 0) continue;
    const final = BigInt(await world.read("isFinal", [id], now)) === 1n;
    same("finality", final, isFinal(word, world.constants.answerSeconds, now));
  }
}

/** The transaction of a move. @param claimOf terms of a claim that was filed before */
function contractMove(
  table: DisputeTable,
  actions: Actions,
  { move, data, result }: Attempt,
  claimOf: (id: ClaimId) => Claim,
): Action {
  const { request, input, presented } = table;
  switch (move.kind) {
    case "request":
      return actions.request(request, input);
    case "claim": {
      const attempt =
        (result.ok && result.claimId && result.state.claims.get(result.claimId)?.claim.attempt) || 0;
      const { operator, gasPrice, value = 0n } = move;
      return actions.claim(request, attempt, operator, gasPrice, data.output as Hex, value);
    }
    case "challenge":
      return actions.challenge(claimOf(move.claimId));
    case "commitTrace":
      return actions.commitTrace(claimOf(move.claimId), topsOf(presented.trace).map(toHex));
    case "demand":
      return actions.demand(claimOf(move.claimId), move.traceRoot, move.position);
    case "reveal": {
      const { content = [], path = [] } = data;
      return actions.reveal(claimOf(move.claimId), move.position, content, path);
    }
    case "convict": {
      const { question } = data;
      const action =
        question &&
        actionOf(actions, { kind: "convict", question }, table.requestEntry, table.entry, move.from);
      if (action === undefined) throw new Error("a conviction without a question");
      return action;
    }
    case "timeoutTrace":
      return actions.timeoutTrace(claimOf(move.claimId));
    case "timeoutDemand":
      return actions.timeoutDemand(claimOf(move.claimId), move.position);
    case "settle": {
      const claim = move.claimId && claimOf(move.claimId);
      const { output = "0x", evidence = "0x" } = data;
      return actions.settle(request, claim, move.lane, input, output, evidence);
    }
    case "finalize":
      return actions.finalize(request, claimOf(move.claimId));
    case "refund":
      return actions.refund(request);
    case "collect":
      return actions.collect(claimOf(move.claimId), move.owner);
    case "withdraw":
      return actions.withdraw(move.from, "");
    default:
      throw new Error(`nobody here plays ${move.kind}`);
  }
}
