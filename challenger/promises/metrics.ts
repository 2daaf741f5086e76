/** What a challenger shows of its work on promises. */
import type { Metrics } from "../../protocol/service/metrics/metrics.ts";
import type { Notice } from "../notices.ts";

/** Notices about promises alone. */
export type PromiseNotice = Extract<
  Notice,
  {
    kind:
      | "leaves"
      | "signed-claim"
      | "uncovered-batch"
      | "promise-move"
      | "promise-withheld"
      | "promise-over";
  }
>;

export interface PromiseSource {
  promises(): { readonly unchecked: number; readonly wrong: number };
}

/** Labels of the counters by verdict. */
export const BY_VERDICT = (["right", "wrong", "could-not-check"] as const).map((verdict) => ({ verdict }));

/** @returns what counts notices about promises */
export function addPromiseMetrics(metrics: Metrics, source: PromiseSource): (notice: PromiseNotice) => void {
  const leaves = metrics.counter(
    "assay_challenger_leaves_checked_total",
    "Leaves of batches compared, by verdict.",
    ["verdict"],
    BY_VERDICT,
  );
  const seconds = metrics.histogram(
    "assay_challenger_batch_seconds",
    "Time that all leaves of a batch took, from the first to the last.",
  );
  const signed = metrics.counter(
    "assay_challenger_signed_claims_checked_total",
    "Signed claims compared that were handed over, or wait in a queue, by verdict.",
    ["verdict"],
    BY_VERDICT,
  );
  const uncovered = metrics.counter(
    "assay_challenger_batches_uncovered_total",
    "Batches of models that no folder here holds.",
  );
  const moves = metrics.counter(
    "assay_challenger_promise_moves_total",
    "Moves about wrong promises, by kind; done is false where the chain does not have one yet.",
    ["move", "done"],
  );
  const withheld = metrics.counter(
    "assay_challenger_promises_withheld_total",
    "Times that a wrong promise was not opened: it does not pay, or a limit forbids it.",
  );
  const over = metrics.counter(
    "assay_challenger_promises_over_total",
    "Wrong promises that ended: fallen, or with their prover's stake untouched.",
    ["ending"],
    [{ ending: "fallen" }, { ending: "final" }, { ending: "unopened" }],
  );
  metrics.gauge(
    "assay_challenger_batches_unchecked",
    "Batches that wait for their check or are in it.",
    () => source.promises().unchecked,
  );
  metrics.gauge(
    "assay_challenger_promises_wrong",
    "Wrong promises about which something is left to do.",
    () => source.promises().wrong,
  );
  return (notice) => {
    switch (notice.kind) {
      case "leaves":
        leaves.inc({ verdict: "right" }, notice.right);
        leaves.inc({ verdict: "wrong" }, notice.wrong);
        leaves.inc({ verdict: "could-not-check" }, notice.unchecked);
        return seconds.observe(notice.seconds);
      case "signed-claim":
        return signed.inc({ verdict: notice.verdict.kind });
      case "uncovered-batch":
        return uncovered.inc();
      case "promise-move":
        return moves.inc({ move: notice.move, done: String(notice.done) });
      case "promise-withheld":
        return withheld.inc();
      case "promise-over":
        return over.inc({ ending: notice.ending });
    }
  };
}
