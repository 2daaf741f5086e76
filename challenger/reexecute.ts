/** Runs inputs again and says what became of the comparison with what is stated. */
import type { Hex } from "viem";
import { equalBytes, fromHex, toHex } from "../base/bytes.ts";
import type { Logger } from "../base/log.ts";
import type { Commitment } from "../inference/commit/commitments.ts";
import type { PreparedModel } from "../inference/executor/prepare.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import type { ModelId } from "../protocol/rules/types.ts";

/** A model whose files match the registered one. */
export interface CoveredModel {
  readonly id: ModelId;
  readonly name: string;
  readonly prepared: PreparedModel;
  readonly weights: Commitment;
}

/** The fast path. It may be wrong or fail: nothing is ever decided on its word alone. */
export interface FastPath {
  /** @returns return data, or why there is none */
  run(
    model: ModelId,
    calldata: Uint8Array,
    signal?: AbortSignal,
  ): Promise<{ readonly output: Uint8Array } | { readonly failure: string }>;
}

/** What compares outputs. */
export interface Engines {
  readonly fast: FastPath;
  readonly canonical: Canonical;
  readonly log: Logger;
  /** aborts when no verdict is wanted any more */
  readonly signal?: AbortSignal;
}

/** "Could not check" is a third answer, never fraud. */
export type Verdict =
  | { readonly kind: "right" }
  | { readonly kind: "wrong"; readonly honest: Hex }
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
 *  the only one that makes an output wrong.
 *  @param onEngine told when the fast path is found at fault */
export async function compare(
  model: CoveredModel,
  { input, output, facts }: StatedOutput,
  { fast, canonical, log, signal }: Engines,
  onEngine: (outcome: EngineOutcome) => void = () => {},
): Promise<Verdict> {
  const quick = await fast.run(model.id, input, signal);
  if ("output" in quick && equalBytes(quick.output, output)) return { kind: "right" };
  let honest: Uint8Array;
  try {
    honest = await canonical.output(model.id, input, signal === undefined ? {} : { signal });
  } catch (error) {
    return { kind: "could-not-check", reason: error instanceof Error ? error.message : String(error) };
  }
  if ("failure" in quick) {
    log.warn({ ...facts, model: model.name, reason: quick.failure }, "the fast path failed");
    onEngine("failed");
  } else if (!equalBytes(quick.output, honest)) {
    log.error(
      { ...facts, model: model.name, fast: toHex(quick.output), canonical: toHex(honest) },
      "the fast path differs from the canonical executor, whose result counts",
    );
    onEngine("differs");
  }
  return equalBytes(honest, output) ? { kind: "right" } : { kind: "wrong", honest: toHex(honest) };
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
