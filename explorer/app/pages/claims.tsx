import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { ClaimSummary, ClaimsQuery } from "../../api/types.ts";
import { useModelChoices } from "../data/model-names.ts";
import { claimsQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { ClaimBadge, FALLS } from "../parts/badges.tsx";
import { Filter } from "../parts/filters.tsx";
import { Id } from "../parts/id.tsx";
import { type Column, Listing } from "../parts/listing.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { Outside } from "../parts/outside.tsx";
import { proverOf } from "../parts/prover-of.ts";
import { Empty } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";

const STATES = [
  ["ACTIVE", "in its window or disputed"],
  ["FINAL", "final"],
  ["FALLEN", "fallen"],
] as const;
const DISPUTED = [
  ["true", "disputed"],
  ["false", "never disputed"],
] as const;

export const CLAIM_COLUMNS: readonly Column<ClaimSummary>[] = [
  { name: "claim", width: "9rem", cell: ({ claimId }) => <Id id={claimId} to="claim" plain /> },
  { name: "state", width: "8rem", cell: (claim) => <ClaimBadge claim={claim} /> },
  { name: "model", width: "minmax(8rem, 1fr)", cell: (item) => <ModelName of={item} /> },
  {
    name: "claimed output",
    width: "minmax(8rem, 1.2fr)",
    cell: ({ text }) => (text === undefined ? <span className="soft">–</span> : <Outside text={text} />),
  },
  { name: "prover", width: "9rem", cell: (claim) => <Id id={proverOf(claim)} to="account" plain /> },
  { name: "bond", width: "7rem", cell: ({ bond }) => <Amount wei={bond} plain /> },
  {
    name: "since",
    width: "6rem",
    cell: ({ claimedAt }) => <Time at={claimedAt} plain />,
  },
];

export function Claims() {
  const filters = useSearch({ from: "/claims" });
  const found = useInfiniteQuery(claimsQuery(filters as ClaimsQuery));
  return (
    <div className="stack">
      <PageTitle name="Claims">Claims</PageTitle>
      <div className="filters">
        <Filter name="state" label="state" value={filters.state} choices={STATES} />
        <Filter name="fall" label="fell because" value={filters.fall} choices={Object.entries(FALLS)} />
        <Filter name="disputed" label="dispute" value={filters.disputed} choices={DISPUTED} />
        <Filter name="model" label="model" value={filters.model} choices={useModelChoices()} />
      </div>
      <Listing
        of={found}
        columns={CLAIM_COLUMNS}
        idOf={({ claimId }) => claimId}
        label="Claims"
        empty={
          <Empty title="No claim is like that">
            Provers claim outputs of requests that accept the bond lane.
          </Empty>
        }
      />
    </div>
  );
}
