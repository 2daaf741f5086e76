/** What an executor does about a run, from the run's state at one block. */
import { type Address, isAddressEqual } from "viem";

/** States of a run, in the order of the contract's enum. */
export const RUN_STATES = ["NONE", "ITERATION", "CONFIRMATION", "TOOL", "DONE", "FAILED"] as const;

export interface RunState {
  /** ordinal in RUN_STATES */
  readonly state: number;
  readonly iteration: number;
  /** last second for what the run waits for */
  readonly deadline: number;
  /** who may post the present iteration */
  readonly admitted: readonly Address[];
  /** who has posted it */
  readonly posted: ReadonlySet<Address>;
}

/** Errors by which a contract says that an iteration is not asked for any more. */
export const ITERATION_OVER = ["AlreadyPosted", "WrongIteration", "WrongHistory", "WrongState"] as const;

/** @param executor which of the executors that the node serves is asked */
export type RunMove =
  | { readonly kind: "iterate"; readonly executor: Address }
  | { readonly kind: "advance" | "wait" };

/** @param own executors that this node serves @param now seconds; the time of the block that the move would be in */
export function decideRun(run: RunState, own: readonly Address[], now: number): RunMove {
  const state = RUN_STATES[run.state];
  const isWaiting = state === "ITERATION" || state === "CONFIRMATION" || state === "TOOL";
  if (!isWaiting) return { kind: "wait" };
  const has = (all: Iterable<Address>, executor: Address): boolean =>
    [...all].some((each) => isAddressEqual(each, executor));
  // Late is not too late: until somebody advances the run, the contract takes the post.
  const asked = own.find((executor) => has(run.admitted, executor) && !has(run.posted, executor));
  if (state === "ITERATION" && asked !== undefined) return { kind: "iterate", executor: asked };
  return { kind: now > run.deadline ? "advance" : "wait" };
}
