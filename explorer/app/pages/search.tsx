import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { searchQuery } from "../data/queries.ts";
import { Outside } from "../parts/outside.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { PageTitle } from "../parts/title.tsx";
import { pageOf } from "../shell/search-box.tsx";

export function Search() {
  const { q } = useSearch({ from: "/search" });
  const found = useQuery({ ...searchQuery(q), enabled: q !== "" });
  return (
    <div className="stack">
      <PageTitle name="Search">
        Search: <Outside text={q} />
      </PageTitle>
      {q === "" ? (
        <Empty title="Nothing to look for">
          An id, an address, a transaction, a block or a model's name.
        </Empty>
      ) : (
        <Answered of={found}>
          {({ hits }) =>
            hits.length === 0 ? (
              <Empty title="Nothing has this name">
                Ids need all their digits: 0x and 64 for requests, claims, models and transactions, 40 for
                accounts.
              </Empty>
            ) : (
              <ul className="sheet hits">
                {hits.map((hit) => {
                  const page = pageOf(hit);
                  const label = <Outside text={hit.label} />;
                  return (
                    <li key={`${hit.kind}-${hit.id}`} className="row">
                      <span className="badge plain">{hit.kind}</span>
                      {page === undefined ? label : <Link {...page}>{label}</Link>}
                      <span className="mono small soft">{hit.id}</span>
                    </li>
                  );
                })}
              </ul>
            )
          }
        </Answered>
      )}
    </div>
  );
}
