import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { BatchesQuery, BatchSummary } from "../../api/types.ts";
import { useModelChoices } from "../data/model-names.ts";
import { batchesQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { BatchBadge } from "../parts/badges.tsx";
import { Filter } from "../parts/filters.tsx";
import { Id } from "../parts/id.tsx";
import { type Column, Listing } from "../parts/listing.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { PromisesOnly } from "../parts/promises-only.tsx";
import { Empty } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";

const COUNT = new Intl.NumberFormat("en");
const STATES = [
  ["RUNNING", "in its window or doubted"],
  ["FINAL", "final"],
  ["FALLEN", "fallen"],
] as const;

const BATCH_COLUMNS: readonly Column<BatchSummary>[] = [
  { name: "batch", width: "9rem", cell: ({ batchId }) => <Id id={batchId} to="batch" plain /> },
  { name: "state", width: "8rem", cell: ({ state, open }) => <BatchBadge state={state} isOpen={open > 0} /> },
  { name: "model", width: "minmax(8rem, 1fr)", cell: (item) => <ModelName of={item} /> },
  {
    name: "outputs",
    width: "9rem",
    cell: ({ count, opened }) => (
      <span className="number">
        {COUNT.format(count)}
        {opened > 0 && <span className="soft">, {COUNT.format(opened)} opened</span>}
      </span>
    ),
  },
  {
    name: "gas each",
    width: "6rem",
    cell: ({ gasPerLeaf }) => (
      <span className="number">{gasPerLeaf === undefined ? "–" : COUNT.format(Math.round(gasPerLeaf))}</span>
    ),
  },
  { name: "prover", width: "9rem", cell: ({ prover }) => <Id id={prover} to="account" plain /> },
  { name: "bond", width: "7rem", cell: ({ bond }) => <Amount wei={bond} plain /> },
  { name: "posted", width: "6rem", cell: ({ postedAt }) => <Time at={postedAt} plain /> },
];

export function Batches() {
  const filters = useSearch({ from: "/batches" });
  const found = useInfiniteQuery(batchesQuery(filters as BatchesQuery));
  return (
    <div className="stack">
      <PageTitle name="Batches">Batches</PageTitle>
      <PromisesOnly>
        <p>
          A prover posts many outputs in one transaction, with its <Term word="stake">stake</Term> behind each{" "}
          <Term word="leaf">leaf</Term>. Whoever doubts one opens it: it becomes a{" "}
          <Term word="claim">claim</Term>.
        </p>
        <div className="filters">
          <Filter name="state" label="state" value={filters.state} choices={STATES} />
          <Filter name="model" label="model" value={filters.model} choices={useModelChoices()} />
        </div>
        <Listing
          of={found}
          columns={BATCH_COLUMNS}
          idOf={({ batchId }) => batchId}
          label="Batches"
          empty={
            <Empty title="No batch is like that">
              Provers that run with <code>--batch-seconds</code> post them.
            </Empty>
          }
        />
      </PromisesOnly>
    </div>
  );
}
