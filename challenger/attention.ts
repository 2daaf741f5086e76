/** Attention tests: wrong claims with a known answer, put among the real ones, show whether this challenger would see
 *  one and how long it takes. They stay in this process: nobody pays for them, and nobody else sees them. */
import { fromHex, toHex } from "../base/bytes.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import { type CoveredModel, type Engines, reexecute } from "./reexecute.ts";

/** `missed`: the planned fault was not found, or another output than the known one was found in its place. */
export type AttentionResult = "detected" | "missed" | "could-not-check";
export const ATTENTION_RESULTS: readonly AttentionResult[] = ["detected", "missed", "could-not-check"];

/** A claim that was found right, with one bit of its output turned. */
export interface PlannedClaim {
  readonly claim: ClaimEntry;
  readonly request: RequestEntry;
  readonly honest: ClaimEntry["output"];
  readonly plannedAtMs: number;
}

export interface AttentionOptions {
  /** least time between two tests, ms */
  readonly everyMs: number;
  readonly nowMs: () => number;
  /** an integer from 0 below the bound, which nobody can foresee */
  readonly randomBelow: (bound: number) => number;
}

export class AttentionTests {
  readonly #options: AttentionOptions;
  #lastMs: number | undefined;

  constructor(options: AttentionOptions) {
    this.#options = options;
  }

  /** @param claim that was just found right @returns its wrong twin, if a test is due */
  plan(claim: ClaimEntry, request: RequestEntry): PlannedClaim | undefined {
    const { everyMs, nowMs, randomBelow } = this.#options;
    const now = nowMs();
    const output = fromHex(claim.output);
    if (output.length === 0 || (this.#lastMs !== undefined && now < this.#lastMs + everyMs)) return undefined;
    this.#lastMs = now;
    const bit = randomBelow(8 * output.length);
    const turned = output.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    return { claim: { ...claim, output: toHex(turned) }, request, honest: claim.output, plannedAtMs: now };
  }
}

/** Compares a planned claim as any other. */
export async function takeTest(
  { claim, request, honest }: PlannedClaim,
  model: CoveredModel,
  engines: Engines,
): Promise<AttentionResult> {
  const verdict = await reexecute(model, request, claim, engines);
  if (verdict.kind === "could-not-check") return verdict.kind;
  return verdict.kind === "wrong" && (verdict.honest ?? honest) === honest ? "detected" : "missed";
}
