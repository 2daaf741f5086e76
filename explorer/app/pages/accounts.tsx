import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { AccountSummary, AccountsQuery } from "../../api/types.ts";
import { accountsQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { counted } from "../parts/counted.ts";
import { Filter } from "../parts/filters.tsx";
import { Id } from "../parts/id.tsx";
import { type Column, Listing } from "../parts/listing.tsx";
import { Empty } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";

const ROLES = ["requester", "prover", "challenger", "operator", "submitter"] as const;

/** Good and bad marks of a record, in words. */
export function recordText({
  finalClaims,
  fallenClaims,
  ticketsWon,
  ticketsLost,
  requests,
}: AccountSummary["record"]): string {
  const parts = [
    requests > 0 ? counted(requests, "request") : "",
    finalClaims > 0 ? `${counted(finalClaims, "claim")} stood` : "",
    fallenClaims > 0 ? `${counted(fallenClaims, "claim")} fell` : "",
    ticketsWon > 0 ? `${counted(ticketsWon, "dispute")} won` : "",
    ticketsLost > 0 ? `${counted(ticketsLost, "dispute")} lost` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "–" : parts.join(", ");
}

const COLUMNS: readonly Column<AccountSummary>[] = [
  { name: "account", width: "9rem", cell: ({ account }) => <Id id={account} to="account" plain /> },
  { name: "roles", width: "minmax(9rem, 1fr)", cell: ({ roles }) => roles.join(", ") },
  { name: "record", width: "minmax(10rem, 1.4fr)", cell: ({ record }) => recordText(record) },
  { name: "at stake", width: "7rem", cell: ({ exposure }) => <Amount wei={exposure} plain /> },
  { name: "credit", width: "7rem", cell: ({ credit }) => <Amount wei={credit} plain /> },
  {
    name: "profit or loss",
    width: "8rem",
    cell: ({ result }) => (
      <span className={BigInt(result) < 0n ? "paid" : "gained"}>
        <Amount wei={result} sign plain />
      </span>
    ),
  },
  { name: "seen", width: "6rem", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} plain /> },
];

export function Accounts() {
  const filters = useSearch({ from: "/accounts" });
  const found = useInfiniteQuery(accountsQuery(filters as AccountsQuery));
  return (
    <div className="stack">
      <PageTitle name="Accounts">Accounts</PageTitle>
      <div className="filters">
        <Filter name="role" label="role" value={filters.role} choices={ROLES.map((role) => [role, role])} />
      </div>
      <Listing
        of={found}
        columns={COLUMNS}
        idOf={({ account }) => account}
        label="Accounts"
        empty={<Empty title="No account is like that" />}
      />
    </div>
  );
}
