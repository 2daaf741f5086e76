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

export type RunMove = "iterate" | "advance" | "wait";

/** @param now seconds; the time of the block that the move would be in */
export function decideRun(run: RunState, own: Address, now: number): RunMove {
  const state = RUN_STATES[run.state];
  const isWaiting = state === "ITERATION" || state === "CONFIRMATION" || state === "TOOL";
  if (!isWaiting) return "wait";
  const has = (all: Iterable<Address>): boolean => [...all].some((each) => isAddressEqual(each, own));
  // Late is not too late: until somebody advances the run, the contract takes the post.
  if (state === "ITERATION" && has(run.admitted) && !has(run.posted)) return "iterate";
  return now > run.deadline ? "advance" : "wait";
}
