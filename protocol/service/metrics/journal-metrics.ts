/** What a daemon shows of a journal that it shares. */
import type { SharedJournal } from "../journal/shared-journal.ts";
import type { Metrics } from "./metrics.ts";

export function addJournalMetrics(metrics: Metrics, journal: Pick<SharedJournal, "role" | "unshared">): void {
  metrics.gauge("assay_database_up", "1 if PostgreSQL can be used, else 0.", () =>
    journal.role === "cut-off" ? 0 : 1,
  );
  metrics.gauge("assay_signer_leads", "1 if this daemon signs with its key, 0 while it stands by.", () =>
    journal.role === "signer" ? 1 : 0,
  );
  metrics.gauge(
    "assay_journal_unshared",
    "Rows of the journal that the folder has and PostgreSQL not yet.",
    () => journal.unshared,
  );
}
