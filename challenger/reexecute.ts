/** Runs inputs again and says what became of the comparison with what is stated. */
import type { Hex } from "viem";
import { equalBytes, fromHex, toHex } from "../base/bytes.ts";
import type { Logger } from "../base/log.ts";
import type { Commitment } from "../inference/commit/commitments.ts";
import type { OutputCheck } from "../inference/executor/execute.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import type { FastResult } from "../protocol/service/workers/confirm.ts";

/** A model whose files match the registered one. */
export interface CoveredModel {
  readonly id: ModelId;
  readonly name: string;
  readonly prepared: PreparedModel;
  readonly weights: Commitment;
  /** true: the canonical executor is asked at once, being sooner done than the fast path or the only one that checks an
   *  output in one pass */
  readonly isQuick?: boolean;
}

/** The fast path. It may be wrong or fail: on its word alone an output is right, never wrong. */
export interface FastPath {
  /** @param leftMs until the output is of no use, ms; absent: there is no such time */
  run(model: ModelId, calldata: Uint8Array, signal?: AbortSignal, leftMs?: number): Promise<FastResult>;
  /** Many at once, in their order; absent: nothing is won by that */
  runAll?(
    model: ModelId,
    inputs: readonly Uint8Array[],
    signal?: AbortSignal,
    leftMs?: number,
  ): Promise<readonly FastResult[]>;
}

/** What compares outputs. */
export interface Engines {
  readonly fast: FastPath;
  readonly canonical: Canonical;
  readonly log: Logger;
  /** aborts when no verdict is wanted any more */
  readonly signal?: AbortSignal;
  /** until a verdict is of no use, by the chain's time, ms; absent: there is no such time */
  readonly leftMs?: () => number;
}

/** "Could not check" is a third answer, never fraud. */
export type Verdict =
  | { readonly kind: "right"; readonly workers?: readonly [string, string] }
  /** `honest` absent: the program reads the claimed output, and one pass showed that it is wrong. */
  | { readonly kind: "wrong"; readonly honest?: Hex }
  | { readonly kind: "could-not-check"; readonly reason: string };

/** How the fast path failed to give the canonical executor's output. */
export type EngineOutcome = "failed" | "differs";

/** An output for an input, and by which fields log lines name it. */
export interface StatedOutput {
  /** calldata */
  readonly input: Uint8Array;
  /** return data */
  readonly output: Uint8Array;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Compares an output with the fast path and, where that differs or fails, with the canonical executor, whose word is
 *  the only one that makes an output wrong; with the executor at once where the model is quick.
 *  @param onEngine told when the fast path is found at fault */
export async function compare(
  model: CoveredModel,
  stated: StatedOutput,
  engines: Engines,
  onEngine: (outcome: EngineOutcome) => void = () => {},
): Promise<Verdict> {
  const { fast, signal, leftMs } = engines;
  const isAsked = model.isQuick !== true;
  const quick = isAsked ? await fast.run(model.id, stated.input, signal, leftMs?.()) : undefined;
  return compareWith(quick, model, stated, engines, onEngine);
}

/** @param quick what the fast path gave; undefined: it was not asked @see compare */
export async function compareWith(
  quick: FastResult | undefined,
  model: CoveredModel,
  stated: StatedOutput,
  engines: Engines,
  onEngine: (outcome: EngineOutcome) => void = () => {},
): Promise<Verdict> {
  const { input, output } = stated;
  const { canonical, signal } = engines;
  if (quick !== undefined && "output" in quick && equalBytes(quick.output, output))
    return { kind: "right", ...(quick.workers === undefined ? {} : { workers: quick.workers }) };
  let check: OutputCheck;
  try {
    check = await canonical.check(model.id, input, output, signal === undefined ? {} : { signal });
  } catch (error) {
    return { kind: "could-not-check", reason: error instanceof Error ? error.message : String(error) };
  }
  const { isRight, output: honest } = check;
  if (quick !== undefined) reportFaults(model, stated, engines, { quick, honest }, onEngine);
  if (isRight) return { kind: "right" };
  return { kind: "wrong", ...(honest === undefined ? {} : { honest: toHex(honest) }) };
}

interface Outputs {
  readonly quick: FastResult;
  readonly honest: Uint8Array | undefined;
}

function reportFaults(
  { name }: CoveredModel,
  { facts }: StatedOutput,
  { log }: Engines,
  { quick, honest }: Outputs,
  onEngine: (outcome: EngineOutcome) => void,
): void {
  if ("failure" in quick) {
    log.warn({ ...facts, model: name, reason: quick.failure }, "the fast path failed");
    onEngine("failed");
  } else if (honest !== undefined && !equalBytes(quick.output, honest)) {
    log.error(
      { ...facts, model: name, fast: toHex(quick.output), canonical: toHex(honest) },
      "the fast path differs from the canonical executor, whose result counts",
    );
    onEngine("differs");
  }
}

/** Compares a claim. @see compare */
export const reexecute = (
  model: CoveredModel,
  request: RequestEntry,
  claim: ClaimEntry,
  engines: Engines,
  onEngine?: (outcome: EngineOutcome) => void,
): Promise<Verdict> =>
  compare(
    model,
    { input: fromHex(request.input), output: fromHex(claim.output), facts: { claim: claim.id } },
    engines,
    onEngine,
  );
