/** Answers that a prover owes challengers for its claims: in time or not, until they are given or the claim has ended. */
import type { Logger } from "../base/log.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";

export type OwedAnswer = {
  readonly claim: ClaimId;
  /** wei; half of it burns and half goes to those who hold tickets if the answer does not come */
  readonly bond: bigint;
  /** last second in which the contract takes it */
  readonly deadline: number;
} & ({ readonly kind: "commitTrace" } | { readonly kind: "reveal"; readonly position: bigint });

/** Pure. @param word at the same block as the entry */
export function owedAnswers({ id, claim, trace, demands }: ClaimEntry, word: ClaimWord): OwedAnswer[] {
  if (word.state !== "ACTIVE") return [];
  const common = { claim: id, bond: claim.bond };
  const answers: OwedAnswer[] = [];
  // A claim that nobody challenged has the deadline 0.
  if (trace === undefined && word.traceDeadline > 0)
    answers.push({ ...common, kind: "commitTrace", deadline: word.traceDeadline });
  for (const [position, { deadline, content }] of demands) {
    if (content === undefined) answers.push({ ...common, kind: "reveal", position, deadline });
  }
  return answers;
}

/** Answers that are shown one by one. */
const MAX_SHOWN = 200;

/** What is owed at the newest block. */
export class OwedAnswers {
  readonly #log: Logger;
  readonly #reported = new Set<ClaimId>();
  #answers: readonly OwedAnswer[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The most urgent answer of each claim and kind, the most urgent first. */
  get shown(): readonly OwedAnswer[] {
    return this.#answers.slice(0, MAX_SHOWN);
  }

  /** @param now seconds */
  overdue(now: number): OwedAnswer[] {
    return this.shown.filter(({ deadline }) => now > deadline);
  }

  /** Replaces what was owed, and says once of each claim that it is late.
   *  @param now seconds */
  take(answers: readonly OwedAnswer[], now: number): void {
    this.#answers = earliest(answers);
    const late = this.#answers.filter(({ deadline }) => now > deadline);
    const claims = new Set(late.map(({ claim }) => claim));
    for (const id of this.#reported) if (!claims.has(id)) this.#reported.delete(id);
    for (const answer of late) {
      if (this.#reported.has(answer.claim)) continue;
      this.#reported.add(answer.claim);
      const { bond: bondWei, ...owed } = answer;
      this.#log.error(
        { ...owed, bondWei, late: now - answer.deadline },
        "an answer that this prover owes is overdue: anybody may end the claim, and its bond is lost",
      );
    }
  }
}

/** A claim may owe many reveals at once. */
function earliest(answers: readonly OwedAnswer[]): OwedAnswer[] {
  const found = new Map<string, OwedAnswer>();
  for (const answer of [...answers].sort((a, b) => a.deadline - b.deadline)) {
    const key = `${answer.kind}:${answer.claim}`;
    if (!found.has(key)) found.set(key, answer);
  }
  return [...found.values()];
}
