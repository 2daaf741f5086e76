/** How a dishonest prover runs models and answers challengers. */
import { revealAt } from "../../../inference/commit/reveal.ts";
import type { Runs } from "../../../prover/runs.ts";
import { type Fault, type FaultKind, falsify } from "./faults.ts";

/** Falsifies every run, and answers as the fault's kind says. */
export function dishonestRuns(fault: Fault): Runs {
  const { kind } = fault;
  return {
    output: async ({ prepared }, calldata) => falsify(prepared, calldata, fault).output,
    trace: ({ prepared }, calldata) =>
      kind === "stall" ? silent("commits to no trace") : falsify(prepared, calldata, fault).trace,
    reveal: REVEALS[kind] ?? revealAt,
  };
}

/** Of the kinds that do not open what they committed to. */
const REVEALS: Partial<Record<FaultKind, Runs["reveal"]>> = {
  "stall-reveal": () => silent("reveals nothing"),
  "garbage-reveal": (trace, position) => {
    const { content, path } = revealAt(trace, position);
    return { content: content.map((word) => word.map((byte) => byte ^ 0x5a)), path };
  },
};

/** The prover's job fails, and is tried again in vain. */
const silent = (what: string): never => {
  throw new Error(`this prover ${what}`);
};
