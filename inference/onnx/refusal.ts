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

export function refuse(reason: string, nextStep: string): never {
  throw new Refusal(reason, nextStep);
}
