import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { SignedClaimsQuery, SignedSummary } from "../../api/types.ts";
import { useModelChoices } from "../data/model-names.ts";
import { signedClaimsQuery } from "../data/queries.ts";
import { ClaimBadge, OpenedBadge } from "../parts/badges.tsx";
import { Filter } from "../parts/filters.tsx";
import { Id } from "../parts/id.tsx";
import { type Column, Listing } from "../parts/listing.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { PromisesOnly } from "../parts/promises-only.tsx";
import { Empty } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";

const STATES = [
  ["QUEUED", "waits for stake"],
  ["OPEN", "is a claim"],
  ["STOOD", "stood"],
  ["FELL", "fell"],
  ["TAKEN_BACK", "taken back"],
] as const;

const SIGNED_COLUMNS: readonly Column<SignedSummary>[] = [
  { name: "digest", width: "9rem", cell: ({ digest }) => <Id id={digest} to="signed claim" plain /> },
  {
    name: "state",
    width: "11rem",
    cell: ({ state, ahead }) => (
      <span className="row">
        <OpenedBadge state={state} />
        {ahead !== undefined && (
          <span className="small soft">{ahead === 0 ? "first" : `${ahead} ahead`}</span>
        )}
      </span>
    ),
  },
  { name: "model", width: "minmax(8rem, 1fr)", cell: (item) => <ModelName of={item} /> },
  {
    name: "claim",
    width: "minmax(12rem, 1fr)",
    cell: ({ claim }) =>
      claim === undefined ? (
        <span className="soft">–</span>
      ) : (
        <span className="row">
          <Id id={claim.claimId} to="claim" plain />
          <ClaimBadge claim={claim} />
        </span>
      ),
  },
  { name: "signed by", width: "9rem", cell: ({ prover }) => <Id id={prover} to="account" plain /> },
  { name: "opened by", width: "9rem", cell: ({ opener }) => <Id id={opener} to="account" plain /> },
  { name: "shown", width: "6rem", cell: ({ shownAt }) => <Time at={shownAt} plain /> },
];

export function SignedClaims() {
  const filters = useSearch({ from: "/signed-claims" });
  const found = useInfiniteQuery(signedClaimsQuery(filters as SignedClaimsQuery));
  return (
    <div className="stack">
      <PageTitle name="Signed claims">Signed claims</PageTitle>
      <PromisesOnly>
        <p>
          Provers sign outputs off the chain, with their <Term word="stake">stake</Term> behind each. Only
          those that somebody opened are here: the others are between a prover and who asked.
        </p>
        <div className="filters">
          <Filter name="state" label="state" value={filters.state} choices={STATES} />
          <Filter name="model" label="model" value={filters.model} choices={useModelChoices()} />
        </div>
        <Listing
          of={found}
          columns={SIGNED_COLUMNS}
          idOf={({ digest }) => digest}
          label="Signed claims"
          empty={
            <Empty title="No signed claim is like that">
              A wrong one is opened by <code>assay promise open FILE</code>, or by a challenger that is handed
              it.
            </Empty>
          }
        />
      </PromisesOnly>
    </div>
  );
}
