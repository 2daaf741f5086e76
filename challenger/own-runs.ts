/** Own runs of disputed inputs, and of the outputs that are claimed for them where a program reads those, by the canonical
 *  executor: each is made once, beside everything else. */
import { fromHex } from "../base/bytes.ts";
import type { Logger } from "../base/log.ts";
import type { Commitment } from "../inference/commit/commitments.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import type { ClaimId, ModelId } from "../protocol/rules/types.ts";
import type { OwnTrace } from "./interrogate.ts";
import type { CoveredModel } from "./reexecute.ts";

export interface OwnRunsParts {
  readonly canonical: Canonical;
  readonly models: ReadonlyMap<ModelId, CoveredModel>;
  readonly log: Logger;
  /** told when a run is there */
  readonly onMade: (id: ClaimId) => void;
}

export class OwnRuns {
  readonly #parts: OwnRunsParts;
  readonly #made = new Map<ClaimId, OwnTrace>();
  readonly #making = new Map<ClaimId, { readonly over: AbortController; readonly done: Promise<void> }>();

  constructor(parts: OwnRunsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#made.size;
  }

  /** True while none is being made. */
  get isIdle(): boolean {
    return this.#making.size === 0;
  }

  /** The run; where it is not there, it is begun and undefined.
   *  @param claim of a model that is covered */
  get(entry: ClaimEntry, request: RequestEntry): OwnTrace | undefined {
    const made = this.#made.get(entry.id);
    if (made === undefined && !this.#making.has(entry.id)) this.#make(entry, request);
    return made;
  }

  /** Also one that is being made. */
  forget(id: ClaimId): void {
    this.#made.delete(id);
    this.#making.get(id)?.over.abort();
  }

  /** Forgets those of claims that are not there any more. */
  keepOnly(isThere: (id: ClaimId) => boolean): void {
    for (const id of [...this.#made.keys(), ...this.#making.keys()]) if (!isThere(id)) this.forget(id);
  }

  /** Calls off those that are being made. */
  async stop(): Promise<void> {
    const making = [...this.#making.values()];
    for (const { over } of making) over.abort();
    await Promise.all(making.map(({ done }) => done));
  }

  #make({ id, claim: { modelId }, output }: ClaimEntry, { input }: RequestEntry): void {
    const { models, canonical, log, onMade } = this.#parts;
    const model = models.get(modelId) as CoveredModel;
    const over = new AbortController();
    const { signal } = over;
    const done = canonical
      .trace(modelId, fromHex(input), { urgency: "owed", signal, claimed: fromHex(output) })
      .then((run) => {
        if (!signal.aborted) this.#made.set(id, ownTrace(model, run));
      })
      .catch((error: unknown) => {
        // Whoever asks next begins it again.
        if (!signal.aborted)
          log.warn({ claim: id, reason: String(error) }, "this challenger's trace is not made yet");
      })
      .finally(() => {
        this.#making.delete(id);
        if (this.#made.has(id)) onMade(id);
      });
    this.#making.set(id, { over, done });
  }
}

/** A run of the canonical executor, as questions about a claim need it. */
export const ownTrace = ({ prepared, weights }: CoveredModel, trace: Commitment): OwnTrace => ({
  ...{ program: prepared.program, trace, weights },
  constant: (operand) => prepared.constant(operand),
});
