import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { RequestSummary, RequestsQuery } from "../../api/types.ts";
import { useModelChoices } from "../data/model-names.ts";
import { requestsQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { LaneMark, RequestBadge } from "../parts/badges.tsx";
import { Filter } from "../parts/filters.tsx";
import { Id } from "../parts/id.tsx";
import { type Column, Listing } from "../parts/listing.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { Outside } from "../parts/outside.tsx";
import { Empty } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";

const STATES = [
  ["OPEN", "open"],
  ["BUSY", "claimed"],
  ["DONE", "final"],
  ["REFUNDED", "refunded"],
] as const;
const LANES = [
  ["EXECUTION", "execution"],
  ["PROOF", "proof"],
  ["BOND", "bond"],
] as const;

export const REQUEST_COLUMNS: readonly Column<RequestSummary>[] = [
  { name: "request", width: "9rem", cell: ({ requestId }) => <Id id={requestId} to="request" plain /> },
  {
    name: "state",
    width: "11rem",
    cell: ({ state, finalLane }) => (
      <span className="row">
        <RequestBadge state={state} />
        {finalLane !== undefined && <LaneMark lane={finalLane} plain />}
      </span>
    ),
  },
  { name: "model", width: "minmax(8rem, 1fr)", cell: (item) => <ModelName of={item} /> },
  {
    name: "output",
    width: "minmax(8rem, 1.3fr)",
    cell: ({ text }) => (text === undefined ? <span className="soft">–</span> : <Outside text={text} />),
  },
  { name: "fee", width: "7rem", cell: ({ fee }) => <Amount wei={fee} plain /> },
  { name: "asked", width: "6rem", cell: ({ requestedAt }) => <Time at={requestedAt} plain /> },
];

export function Requests() {
  const filters = useSearch({ from: "/requests" });
  const found = useInfiniteQuery(requestsQuery(filters as RequestsQuery));
  return (
    <div className="stack">
      <PageTitle name="Requests">Requests</PageTitle>
      <div className="filters">
        <Filter name="state" label="state" value={filters.state} choices={STATES} />
        <Filter name="lane" label="became final by" value={filters.lane} choices={LANES} />
        <Filter name="model" label="model" value={filters.model} choices={useModelChoices()} />
      </div>
      <Listing
        of={found}
        columns={REQUEST_COLUMNS}
        idOf={({ requestId }) => requestId}
        label="Requests"
        empty={
          <Empty title="No request is like that">
            Agents make requests: by the SDK, the contracts, or `assay request`.
          </Empty>
        }
      />
    </div>
  );
}
