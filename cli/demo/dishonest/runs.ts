/** How a dishonest prover runs models and answers challengers. */
import { revealAt } from "../../../inference/commit/reveal.ts";
import type { Runs } from "../../../prover/runs.ts";
import { type Fault, type FaultKind, falsify } from "./faults.ts";

/** Falsifies every run, and answers as the fault's kind says. */
export function dishonestRuns(fault: Fault): Runs {
  const { kind } = fault;
  const { trace, reveals } = answersOf(kind);
  const reveal = revealOf(kind);
  return {
    output: async ({ prepared }, calldata) => falsify(prepared, calldata, fault).output,
    trace: async ({ prepared }, calldata) =>
      trace ? falsify(prepared, calldata, fault).trace : silent("commits to no trace"),
    reveal: (committed, position) => (reveals ? reveal(committed, position) : silent("reveals nothing")),
  };
}

/** What a claim with this fault answers at all. */
export const answersOf = (kind: FaultKind): { readonly trace: boolean; readonly reveals: boolean } => ({
  trace: kind !== "stall",
  reveals: kind !== "stall" && kind !== "stall-reveal",
});

/** What it answers to a demand, where it does. */
export const revealOf = (kind: FaultKind): Runs["reveal"] => (kind === "garbage-reveal" ? garbage : revealAt);

const garbage: Runs["reveal"] = (trace, position) => {
  const { content, path } = revealAt(trace, position);
  return { content: content.map((word) => word.map((byte) => byte ^ 0x5a)), path };
};

/** The prover's job fails, and is tried again in vain. */
const silent = (what: string): never => {
  throw new Error(`this prover ${what}`);
};
