/** Turns a decision into the transaction that carries it out. */

import type { Address, Hex } from "viem";
import { toHex } from "../base/bytes.ts";
import type { Opening as OpeningBytes } from "../inference/commit/openings.ts";
import type { Action, Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import type { Opening } from "../protocol/rules/types.ts";
import type { Decision } from "./decide.ts";
import type { Question } from "./interrogate.ts";

const hexes = (words: readonly Uint8Array[]): Hex[] => words.map(toHex);
const opening = ({ words, path }: OpeningBytes): Opening => ({ words: hexes(words), path: hexes(path) });

/** @returns undefined where the decision needs no transaction */
export function actionOf(
  actions: Actions,
  decision: Decision,
  request: RequestEntry,
  { claim, trace, output }: ClaimEntry,
  own: Address,
): Action | undefined {
  switch (decision.kind) {
    case "challenge":
      return actions.challenge(claim);
    case "timeoutTrace":
      return actions.timeoutTrace(claim);
    case "timeoutDemand":
      return actions.timeoutDemand(claim, decision.position);
    case "demand":
      return trace === undefined ? undefined : actions.demand(claim, trace.root, decision.position);
    case "convict":
      return conviction(actions, decision.question, request, { claim, output });
    case "collect":
      return actions.collect(claim, own);
    case "wait":
    case "over":
      return undefined;
  }
}

function conviction(
  actions: Actions,
  question: Exclude<Question, { kind: "demand" }>,
  { request, input }: RequestEntry,
  { claim, output }: Pick<ClaimEntry, "claim" | "output">,
): Action {
  switch (question.kind) {
    case "element":
      return actions.convictElement(claim, question.step, question.element, question.openings.map(opening));
    case "codec":
      return actions.convictCodec(
        request,
        claim,
        question.step,
        question.of === "output" ? output : input,
        toHex(question.root),
        hexes(question.path),
      );
    case "output":
      return actions.convictOutput(
        claim,
        toHex(question.output),
        question.element,
        question.openings.map(opening),
      );
  }
}
