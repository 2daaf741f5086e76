import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { transactionQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { EventTable } from "../parts/events.tsx";
import { Facts } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { Answered } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";

const COUNT = new Intl.NumberFormat("en");

export function Transaction() {
  const { id } = useParams({ from: "/transactions/$id" });
  return (
    <div className="stack">
      <PageTitle name={`Transaction ${shortId(id)}`}>Transaction</PageTitle>
      <Answered of={useQuery(transactionQuery(id))}>
        {({ hash, block, time, sender, to, gasUsed, fee, events }) => (
          <>
            <section className="sheet">
              <Facts
                of={[
                  ["hash", <Id key="h" id={hash} what="hash" />],
                  ["block", COUNT.format(block)],
                  ["when", <Time key="t" at={time} />],
                  ["sender", <Id key="s" id={sender} to="account" />],
                  to === undefined ? undefined : ["to", <Id key="to" id={to} to="account" />],
                  ["gas", COUNT.format(gasUsed)],
                  ["fee", <Amount key="f" wei={fee} />],
                ]}
              />
            </section>
            <section className="sheet" aria-labelledby="events">
              <h2 id="events">What it did here</h2>
              <EventTable events={events} />
            </section>
          </>
        )}
      </Answered>
    </div>
  );
}
