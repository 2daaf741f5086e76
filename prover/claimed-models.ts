/** Live claims of this key whose model no folder here holds: whoever challenges one takes its bond, for nothing here can
 *  answer. */
import type { Address } from "viem";
import { formatAmount } from "../base/amounts.ts";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import { isFinal } from "../protocol/rules/machine.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import type { ServedModels } from "./models.ts";
import { owedAnswers } from "./owed.ts";

/** Claims that an error names one by one. */
const MAX_NAMED = 5;

const NEXT_STEP =
  "Put the folder of its model below --models and start again before somebody challenges the claim; a registered model comes back with `assay model pull`.";

interface Times {
  readonly answerSeconds: number;
  /** seconds */
  readonly now: number;
}

/** Those that are not final: a final one needs no model.
 *  @param active claims that are not over @param words of those that may need something, at the same block */
export function claimsWithoutModel(
  active: readonly ClaimEntry[],
  words: ReadonlyMap<ClaimId, ClaimWord>,
  models: ServedModels,
  { answerSeconds, now }: Times,
): ClaimEntry[] {
  return active.filter(({ id, claim }) => {
    const word = words.get(id);
    return !models.has(claim.modelId) && (word === undefined || !isFinal(word, answerSeconds, now));
  });
}

/** Why a prover does not start: claims with a bond of its own; undefined where only others' are without a model.
 *  @param promises address of Promises, whose claims are bonded with their operator's stake; absent: there is none */
export function refusalOf(
  without: readonly ClaimEntry[],
  own: Address,
  promises?: Address,
): BaseError | undefined {
  const bonded = without.filter(({ claim }) => claim.prover === own || claim.prover === promises);
  if (bonded.length === 0) return undefined;
  const bonds = bonded.reduce((sum, { claim }) => sum + claim.bond, 0n);
  const named = bonded
    .slice(0, MAX_NAMED)
    .map(
      ({ id, claim, windowEnd }) =>
        `${id} of model ${claim.modelId}, bond ${formatAmount(claim.bond)}, window until ${windowEnd}`,
    );
  const more = bonded.length > MAX_NAMED ? `; and ${bonded.length - MAX_NAMED} more` : "";
  return new BaseError({
    code: "CLAIMED_MODELS_MISSING",
    shortMessage: `No folder here holds the models of ${bonded.length} live claims of ${own}, whose bonds are ${formatAmount(bonds)}: ${named.join("; ")}${more}.`,
    nextStep: `${NEXT_STEP} With --force the prover goes on without: then their bonds are lost if they are challenged and no operator answers.`,
    details: { claims: bonded.map(({ id }) => id) },
  });
}

/** Logs each of them with what is at stake. */
export function logWithoutModel(
  without: readonly ClaimEntry[],
  words: ReadonlyMap<ClaimId, ClaimWord>,
  log: Logger,
): void {
  for (const entry of without) {
    const { id, claim, windowEnd } = entry;
    const word = words.get(id);
    const owed = word === undefined ? [] : owedAnswers(entry, word);
    log.error(
      {
        claim: id,
        model: claim.modelId,
        prover: claim.prover,
        bondWei: claim.bond,
        windowEnd,
        owed: owed.map(({ kind, deadline }) => ({ kind, deadline })),
        nextStep: NEXT_STEP,
      },
      "no folder here holds the model of a live claim: it cannot be defended",
    );
  }
}
