/** Plays a drill's wrong claim to its end. */
import { setTimeout as pause } from "node:timers/promises";
import { toHex } from "../../../base/bytes.ts";
import { BaseError, isBaseError } from "../../../base/errors.ts";
import { decodePosition } from "../../../inference/commit/positions.ts";
import { topsOf, traceShapes } from "../../../inference/commit/reveal.ts";
import type { Program } from "../../../inference/program/form.ts";
import { type Action, Actions } from "../../../protocol/chain/actions.ts";
import { floorOf } from "../../../protocol/chain/await-result.ts";
import type { ClaimEntry } from "../../../protocol/chain/claim-index.ts";
import { describeEvent, iso } from "../../../protocol/chain/describe.ts";
import type { ChainEvent } from "../../../protocol/chain/events.ts";
import type { Inclusion } from "../../../protocol/chain/journal.ts";
import { readClaim } from "../../../protocol/chain/past.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import type { Sender, SigningChain } from "../../../protocol/chain/sender.ts";
import type { ClaimId } from "../../../protocol/rules/types.ts";
import type { DishonestRun, FaultKind } from "../../demo/dishonest/faults.ts";
import { answersOf, revealOf } from "../../demo/dishonest/runs.ts";
import { printProgress } from "../../output.ts";
import { type DrillMove, drillMoves } from "./moves.ts";

export interface DrillParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly program: Program;
  readonly fault: FaultKind;
  readonly run: DishonestRun;
  readonly pollIntervalMs: number;
  readonly signal: AbortSignal;
}

export interface Played {
  readonly claim: ClaimEntry;
  /** of the claim, in order */
  readonly events: readonly ChainEvent[];
  /** own transactions */
  readonly inclusions: readonly Inclusion[];
}

/** Answers challengers until the claim is over, and collects the share of a ticket of this account.
 *  @param from block of the request
 *  @throws BaseError DRILL_STOPPED when the signal aborts, naming what ends the claim */
export async function playDrill(parts: DrillParts, id: ClaimId, from: bigint): Promise<Played> {
  const { chain, sender, program, fault, pollIntervalMs, signal } = parts;
  const own = chain.account.address;
  const { answerSeconds } = chain.constants;
  const shapes = traceShapes(program);
  const inclusions = new Map<string, Inclusion>();
  const printed = new Set<string>();
  let windowEnd: number | undefined;
  const send = async (action: Action): Promise<void> => {
    const result = await sender.send(action, signal);
    if ("inclusion" in result && result.inclusion !== undefined)
      inclusions.set(result.inclusion.hash, result.inclusion);
    if (result.status === "refused")
      printProgress(`the contract refuses ${action.key}: ${result.revert.message}`);
  };
  for (;;) {
    if (signal.aborted) throw stopped(id, windowEnd);
    try {
      const head = await chain.client.getBlock();
      const { claim: entry, events } = await readClaim(chain, id, floorOf(from));
      windowEnd = entry.windowEnd;
      for (const event of events) {
        const mark = `${event.block.hash}/${event.logIndex}`;
        if (!printed.has(mark)) printProgress(describeEvent(event));
        printed.add(mark);
      }
      if (entry.status === "fallen" && entry.challengers.has(own) && !entry.collected.has(own)) {
        await send(new Actions(chain.game).collect(entry.claim, own));
      } else if (entry.status !== "active") {
        return { claim: entry, events, inclusions: [...inclusions.values()] };
      } else {
        const word = await new StateReader(chain, head.hash).claimWord(id);
        const now = Number(head.timestamp);
        const moves = drillMoves({ entry, word, now, answerSeconds, own, shapes }, answersOf(fault));
        await Promise.all(moves.map((move) => send(actionOf(parts, entry, move))));
      }
    } catch (error) {
      // A re-org takes the claim away until its transaction is mined again.
      if (!isBaseError(error) || !(error.retryable || error.code === "CLAIM_UNKNOWN")) throw error;
      printProgress(`warning: ${error.shortMessage}`);
    }
    await pause(pollIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}

function actionOf({ chain, fault, run }: DrillParts, { claim, trace }: ClaimEntry, move: DrillMove): Action {
  const actions = new Actions(chain.game);
  switch (move.kind) {
    case "commitTrace":
      return actions.commitTrace(claim, topsOf(run.trace).map(toHex));
    case "reveal": {
      const { content, path } = revealOf(fault)(run.trace, decodePosition(move.position));
      return actions.reveal(claim, move.position, content.map(toHex), path.map(toHex));
    }
    case "challenge":
      return actions.challenge(claim);
    case "demand":
      return actions.demand(claim, trace?.root ?? toHex(run.trace.root), move.position);
    case "timeoutTrace":
      return actions.timeoutTrace(claim);
    case "timeoutDemand":
      return actions.timeoutDemand(claim, move.position);
  }
}

const stopped = (id: ClaimId, windowEnd: number | undefined) =>
  new BaseError({
    code: "DRILL_STOPPED",
    shortMessage: `The drill was stopped, and its wrong claim ${id} still stands${windowEnd === undefined ? "" : `, in its window until ${iso(windowEnd)}`}.`,
    nextStep: `See that it falls: \`assay challenger challenge ${id}\` convicts it, with any key.`,
    details: { claimId: id },
  });
