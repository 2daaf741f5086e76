/** What a challenger shows of its work. */
import type { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import type { Metrics } from "../protocol/service/metrics/metrics.ts";
import { ATTENTION_RESULTS } from "./attention.ts";
import type { Clock, OpenDispute } from "./clocks.ts";
import type { Observer } from "./notices.ts";
import { addPromiseMetrics, BY_VERDICT } from "./promises/metrics.ts";
import type { Shards } from "./shards/shards.ts";

export interface ChallengerSource {
  readonly clock: ChainClock;
  disputes(): readonly OpenDispute[];
  /** claims that wait for their check or are in it */
  unchecked(): number;
  /** entries of memory about claims */
  entriesHeld(): number;
  /** models whose claims are checked */
  readonly covered: number;
  /** absent: it checks every claim */
  readonly shards?: Pick<Shards, "size" | "waiting">;
  /** wei in own tickets that are not over; absent: this process files none */
  exposure?(): bigint;
  /** absent: nothing is filed */
  isTripped?(): boolean;
  /** batches that wait for their check, and wrong promises about which something is left to do */
  promises(): { readonly unchecked: number; readonly wrong: number };
}

/** Disputes that are shown one by one, the most urgent first: whoever pays for bonds decides how many there are. */
const MAX_SHOWN = 50;

/** @returns what counts the challenger's notices */
export function addChallengerMetrics(metrics: Metrics, source: ChallengerSource): Observer {
  const checked = metrics.counter(
    "assay_challenger_claims_checked_total",
    "Claims compared, by verdict: a wrong one is a mismatch that the canonical executor confirmed.",
    ["verdict"],
    BY_VERDICT,
  );
  const seconds = metrics.histogram(
    "assay_challenger_verdict_seconds",
    "Time from the first sight of a claim to its verdict.",
  );
  const engine = metrics.counter(
    "assay_challenger_engine_faults_total",
    "Runs in which the fast path failed, or differed from the canonical executor.",
    ["outcome"],
    [{ outcome: "failed" }, { outcome: "differs" }],
  );
  const uncovered = metrics.counter(
    "assay_challenger_claims_uncovered_total",
    "Claims of models that no folder here holds.",
  );
  const moves = metrics.counter(
    "assay_challenger_moves_total",
    "Moves in disputes, by kind; done is false where the chain does not have one yet.",
    ["move", "done"],
  );
  const over = metrics.counter(
    "assay_challenger_disputes_over_total",
    "Wrong claims that ended: fallen, or final and therefore lost.",
    ["ending"],
    [{ ending: "fallen" }, { ending: "final" }],
  );
  const unaffordable = metrics.counter(
    "assay_challenger_unaffordable_total",
    "Times that the limit of exposure forbade a ticket.",
  );
  const tests = metrics.counter(
    "assay_challenger_attention_tests_total",
    "Planned wrong claims by what became of them.",
    ["result"],
    ATTENTION_RESULTS.map((result) => ({ result })),
  );
  const testSeconds = metrics.histogram(
    "assay_challenger_attention_seconds",
    "Time from planning a wrong claim to its verdict, the queue included.",
  );
  const takenUp = metrics.counter(
    "assay_challenger_claims_taken_up_total",
    "Claims that another challenger was to check and had not after a quarter of their window.",
  );
  addStates(metrics, source);
  const promises = addPromiseMetrics(metrics, source);
  return (notice) => {
    switch (notice.kind) {
      case "verdict":
        checked.inc({ verdict: notice.verdict.kind });
        return seconds.observe(notice.seconds);
      case "engine":
        return engine.inc({ outcome: notice.outcome });
      case "attention":
        tests.inc({ result: notice.result });
        return testSeconds.observe(notice.seconds);
      case "uncovered":
        return uncovered.inc();
      case "move":
        return moves.inc({ move: notice.move, done: String(notice.done) });
      case "over":
        return over.inc({ ending: notice.lost ? "final" : "fallen" });
      case "taken-up":
        return takenUp.inc();
      case "unaffordable":
        return unaffordable.inc();
      case "tripped":
        return undefined;
      default:
        return promises(notice);
    }
  };
}

function addStates(metrics: Metrics, source: ChallengerSource): void {
  metrics.gauge("assay_challenger_models_covered", "Models whose claims are checked.", () => source.covered);
  metrics.gauge("assay_challenger_claims_unchecked", "Claims that wait for their check.", () =>
    source.unchecked(),
  );
  metrics.gauge(
    "assay_challenger_shards",
    "Challengers that divide the checks, this one included; 1 where the others are not known.",
    () => source.shards?.size,
  );
  metrics.gauge(
    "assay_challenger_claims_left",
    "Claims that are left to the challengers whose they are.",
    () => source.shards?.waiting,
  );
  metrics.gauge(
    "assay_challenger_entries_held",
    "Entries of memory about claims; a right one has none until it ends.",
    () => source.entriesHeld(),
  );
  metrics.gauge(
    "assay_challenger_disputes_open",
    "Active claims that are wrong.",
    () => source.disputes().length,
  );
  metrics.gauge(
    "assay_challenger_circuit_breaker",
    "1 while no tickets are filed because a person has to look, else 0.",
    () => (source.isTripped === undefined ? undefined : Number(source.isTripped())),
  );
  metrics.gauge(
    "assay_challenger_exposure_wei",
    "Own tickets of claims that are not over, and deposits on promises.",
    () => source.exposure?.(),
  );
  metrics.gauge(
    "assay_challenger_clock_seconds",
    `Time left on each clock of the ${MAX_SHOWN} most urgent disputes; negative once it ran out.`,
    () => {
      const { now } = source.clock;
      if (now === undefined) return undefined;
      return byUrgency(source.disputes()).flatMap(({ claim, clocks }) =>
        clocks.map(({ clock, at }) => ({ labels: { claim, clock }, value: at - now })),
      );
    },
    ["claim", "clock"],
  );
}

const soonest = (clocks: readonly Clock[]): number => Math.min(...clocks.map(({ at }) => at));

const byUrgency = (disputes: readonly OpenDispute[]): readonly OpenDispute[] =>
  [...disputes].sort((a, b) => soonest(a.clocks) - soonest(b.clocks)).slice(0, MAX_SHOWN);
