/** Why a node cannot be lowered. Collected over the whole graph, so that one error lists all of them. */
export class Refusal extends Error {
  constructor(
    /** What is wrong, with the value and the limit. */
    readonly reason: string,
    /** What to do about it, in the imperative. */
    readonly nextStep: string,
  ) {
    super(reason);
  }
}

/** A reason may hold a list from the file: as much of it as a reader looks at. */
const MOST_REASON = 500;

export function refuse(reason: string, nextStep: string): never {
  throw new Refusal(reason.length > MOST_REASON ? `${reason.slice(0, MOST_REASON)}…` : reason, nextStep);
}
