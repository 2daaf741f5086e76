/** Runs of models: what is claimed, and what a challenged claim is defended with. */
import { equalBytes, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Commitment } from "../inference/commit/commitments.ts";
import type { Position } from "../inference/commit/positions.ts";
import { type Reveal, revealAt } from "../inference/commit/reveal.ts";
import { readsClaimed } from "../inference/program/form.ts";
import type { Canonical, Urgency } from "../inference/runtime/canonical-pool.ts";
import type { ConfirmedHere } from "../protocol/service/workers/confirm.ts";
import type { FastPath } from "./fast-path.ts";
import { hasProgram, type ServedModel, type ServedProgram } from "./models.ts";

/** What computes outputs, and says what it finds. */
export interface Engines {
  readonly engine: FastPath;
  readonly canonical: Canonical;
  readonly log: Logger;
}

/** Output without a bond: the engine's, or the executor's where the engine fails.
 *  @param signal aborts when nobody waits any more
 *  @throws BaseError MODEL_CANNOT_RUN (retryable) where there is no executor */
export async function outputOf(
  model: ServedModel,
  calldata: Uint8Array,
  { engine, canonical, log }: Engines,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const result = await engine.run(model.id, calldata, signal);
  if ("output" in result) return result.output;
  // A run that was cancelled is no failure of the engine.
  signal.throwIfAborted();
  if (hasProgram(model)) {
    log.warn({ model: model.name, reason: result.failure }, "the engine failed; the executor stands in");
    return canonical.output(model.id, calldata, { urgency: "caller", signal });
  }
  log.error(
    { model: model.name, reason: result.failure },
    "the engine failed, and nothing else runs this model",
  );
  throw new BaseError({
    code: "MODEL_CANNOT_RUN",
    shortMessage: `${model.name} cannot be run on this node now.`,
    nextStep: "Ask another node; the operator of this one finds the reason in its log.",
    retryable: true,
  });
}

export interface OutputTerms {
  /** default "own" */
  readonly urgency?: Urgency;
  /** until the output is of no use, ms; absent: there is no such time */
  readonly leftMs?: number;
  /** false: the engine does not run beside the executor, which alone decides; default true */
  readonly isCompared?: boolean;
}

/** How a prover runs models, and what it answers challengers. */
export interface Runs {
  /** What is claimed, or signed, for this calldata. */
  output(
    model: ServedProgram,
    calldata: Uint8Array,
    signal: AbortSignal,
    terms?: OutputTerms,
  ): Promise<Uint8Array>;
  /** Commitment to all tensors of the run behind a claim; the same each time.
   *  @param claimed return data that the claim states: of a program that reads them the trace is that claim's */
  trace(
    model: ServedProgram,
    calldata: Uint8Array,
    signal: AbortSignal,
    claimed: Uint8Array,
  ): Promise<Commitment>;
  /** What is revealed of such a trace at a position. */
  reveal(trace: Commitment, position: Position): Reveal;
}

/** Claims what the canonical executor computes, and says loudly where the engine differs.
 *  @param confirmed the canonical executors of other machines, each of whose outputs this machine's engine has to
 *  compute as well; absent: this machine's alone */
export function honestRuns({ engine, canonical, log }: Engines, confirmed?: ConfirmedHere): Runs {
  return {
    output: async (model, calldata, signal, { urgency = "own", leftMs, isCompared = true } = {}) => {
      // No engine runs a program that reads the claimed output, so there is nothing to confirm.
      const isConfirmed = !readsClaimed(model.prepared.program);
      const agreed = isConfirmed ? await confirmed?.output(model.id, calldata, signal, leftMs) : undefined;
      if (agreed !== undefined) return agreed;
      const [right, fast] = await Promise.all([
        canonical.output(model.id, calldata, { signal, urgency }),
        isCompared ? engine.run(model.id, calldata, signal) : undefined,
      ]);
      confirmed?.judge(model.id, calldata, right);
      if (fast === undefined) return right;
      if ("failure" in fast) {
        log.warn({ model: model.name, reason: fast.failure }, "the engine failed; the executor stands in");
      } else if (!equalBytes(fast.output, right)) {
        log.error(
          { model: model.name, engine: toHex(fast.output), canonical: toHex(right) },
          "the engine differs from the canonical executor, whose output is claimed",
        );
      }
      return right;
    },
    trace: (model, calldata, signal, claimed) =>
      canonical.trace(model.id, calldata, { urgency: "owed", signal, claimed }),
    reveal: revealAt,
  };
}
