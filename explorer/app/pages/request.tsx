import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { requestQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { ClaimBadge, LaneMark, RequestBadge } from "../parts/badges.tsx";
import { EventTable } from "../parts/events.tsx";
import { Facts } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { DataSheet } from "../parts/output.tsx";
import { ProofFiles } from "../parts/proof-files.tsx";
import { proverOf } from "../parts/prover-of.ts";
import { Answered, Empty } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Countdown, durationText, Time } from "../parts/time.tsx";
import { IdTitle, PageTitle } from "../parts/title.tsx";

export function Request() {
  const { id } = useParams({ from: "/requests/$id" });
  const found = useQuery(requestQuery(id));
  return (
    <div className="stack">
      {found.data === undefined && <IdTitle kind="Request" id={id} />}
      <Answered of={found}>
        {(request) => {
          const { terms, output, claims, timeline, state, finalLane } = request;
          return (
            <>
              <PageTitle
                name={`Request ${shortId(id)}`}
                aside={
                  <>
                    <RequestBadge state={state} />
                    {finalLane !== undefined && <LaneMark lane={finalLane} />}
                  </>
                }
              >
                <Term word="request">Request</Term> to <ModelName of={request} />
              </PageTitle>
              <div className="columns">
                <section className="sheet" aria-labelledby="asked">
                  <h2 id="asked">Asked</h2>
                  <DataSheet data={request.input} />
                </section>
                <section className="sheet" aria-labelledby="answered">
                  <h2 id="answered">Answered</h2>
                  {output !== undefined ? (
                    <DataSheet data={output} />
                  ) : (
                    <Empty title={state === "REFUNDED" ? "Nobody answered in time" : "No final output yet"}>
                      {state === "BUSY" ? (
                        <>
                          A claim is waiting out its window; an agent that reads now reads what may still
                          fall.
                        </>
                      ) : state === "OPEN" ? (
                        <>Any prover may claim until the request expires.</>
                      ) : (
                        <>The fee went back to the requester.</>
                      )}
                    </Empty>
                  )}
                </section>
              </div>
              <section className="sheet" aria-labelledby="terms">
                <h2 id="terms">Terms</h2>
                <Facts
                  of={[
                    ["request", <Id key="id" id={id} what="request" />],
                    ["requester", <Id key="r" id={terms.requester} to="account" />],
                    ["fee", <Amount key="f" wei={terms.fee} />],
                    [
                      "lanes it accepts",
                      <span key="l" className="row">
                        {terms.lanes.map((lane) => (
                          <LaneMark key={lane} lane={lane} />
                        ))}
                      </span>,
                    ],
                    [
                      <Term key="w" word="window">
                        window
                      </Term>,
                      durationText(terms.window),
                    ],
                    [
                      "expires",
                      state === "OPEN" ? (
                        <Countdown key="e" until={terms.expiry} />
                      ) : (
                        <Time key="e" at={terms.expiry} />
                      ),
                    ],
                    BigInt(terms.minBond) === 0n
                      ? undefined
                      : ["least bond", <Amount key="m" wei={terms.minBond} />],
                    terms.exclusiveProver === undefined
                      ? undefined
                      : ["for one prover at first", <Id key="x" id={terms.exclusiveProver} to="account" />],
                    terms.callback === undefined
                      ? undefined
                      : [
                          "delivered to",
                          <span key="c" className="row">
                            <Id id={terms.callback} to="account" /> {request.delivery.toLowerCase()}
                          </span>,
                        ],
                  ]}
                />
              </section>
              {finalLane !== undefined && <ProofFiles requestId={id} isFinal />}
              {claims.length > 0 && (
                <section className="sheet" aria-labelledby="claims">
                  <h2 id="claims">
                    <Term word="claim">Claims</Term>
                  </h2>
                  <ul className="stack near">
                    {claims.map((claim) => (
                      <li key={claim.claimId} className="row">
                        <Link to="/claims/$id" params={{ id: claim.claimId }}>
                          attempt {claim.attempt + 1}
                        </Link>
                        <ClaimBadge claim={claim} />
                        <span>
                          by <Id id={proverOf(claim)} to="account" />
                        </span>
                        <span className="soft">
                          bond <Amount wei={claim.bond} />
                        </span>
                      </li>
                    ))}
                  </ul>
                </section>
              )}
              <section className="sheet" aria-labelledby="moves">
                <h2 id="moves">What happened</h2>
                <EventTable events={timeline} />
              </section>
            </>
          );
        }}
      </Answered>
    </div>
  );
}
