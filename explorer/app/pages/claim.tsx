import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Claim as ClaimData } from "../../api/types.ts";
import { claimQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { ClaimBadge, FALLS } from "../parts/badges.tsx";
import { EventTable } from "../parts/events.tsx";
import { Facts } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { Lifeline } from "../parts/lifeline.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { DataSheet } from "../parts/output.tsx";
import { ProofFiles } from "../parts/proof-files.tsx";
import { proverOf } from "../parts/prover-of.ts";
import { Answered } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Countdown, Time } from "../parts/time.tsx";
import { IdTitle, PageTitle } from "../parts/title.tsx";
import { VerifyHere } from "./claim/verify-here.tsx";

export function Claim() {
  const { id } = useParams({ from: "/claims/$id" });
  const found = useQuery(claimQuery(id));
  return (
    <div className="stack">
      {found.data === undefined && <IdTitle kind="Claim" id={id} />}
      <Answered of={found}>{(claim) => <Known claim={claim} />}</Answered>
    </div>
  );
}

function Known({ claim }: { readonly claim: ClaimData }) {
  const { claimId, timeline, hasDispute, others, state } = claim;
  const isFinal = state === "FINAL" || claim.isFinalByTime;
  return (
    <>
      <PageTitle name={`Claim ${shortId(claimId)}`} aside={<ClaimBadge claim={claim} />}>
        <Term word="claim">Claim</Term> on <ModelName of={claim} />
      </PageTitle>
      <Verdict claim={claim} />
      <section className="sheet" aria-labelledby="life">
        <h2 id="life">Its life</h2>
        <Lifeline of={claim} since={claim.claimedAt} />
      </section>
      <div className="columns">
        <section className="sheet" aria-labelledby="input">
          <h2 id="input">Input</h2>
          <DataSheet data={claim.input} />
        </section>
        <section className="sheet" aria-labelledby="output">
          <h2 id="output">Claimed output</h2>
          <DataSheet data={claim.output} />
        </section>
      </div>
      <VerifyHere of={claim} />
      {(isFinal || state === "FALLEN") && (
        <ProofFiles requestId={claim.requestId} claimId={claimId} isFinal={isFinal} />
      )}
      <Link
        className="sheet way-on"
        to="/models/$id/program"
        params={{ id: claim.modelId }}
        search={{ claim: claimId }}
      >
        <strong>The run, opened</strong>
        <span>Every step of the model and its numbers on this input →</span>
      </Link>
      {hasDispute && (
        <Link className="sheet way-on is-bad" to="/claims/$id/dispute" params={{ id: claimId }}>
          <strong>The dispute</strong>
          <span>What was opened of the trace, where it parts from the honest one, and the arithmetic →</span>
        </Link>
      )}
      <section className="sheet" aria-labelledby="terms">
        <h2 id="terms">Who and how much</h2>
        <Parties claim={claim} />
      </section>
      {others.length > 0 && (
        <section className="sheet" aria-labelledby="others">
          <h2 id="others">Other claims on this request</h2>
          <ul className="stack near">
            {others.map((other) => (
              <li key={other.claimId} className="row">
                <Id id={other.claimId} to="claim" />
                <ClaimBadge claim={other} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="sheet" aria-labelledby="moves">
        <h2 id="moves">Every move</h2>
        <EventTable events={timeline} />
      </section>
    </>
  );
}

/** What the state means for whoever wants to use the output. */
function Verdict({
  claim: { state, isFinalByTime, fall, finalAt, tickets, payout, endedAt },
}: {
  readonly claim: ClaimData;
}) {
  if (state === "FALLEN") {
    return (
      <p className="notice tone-bad">
        <strong>
          Fell{fall === undefined ? "" : `: ${FALLS[fall]}`}
          {endedAt !== undefined && (
            <>
              , <Time at={endedAt} />
            </>
          )}
        </strong>
        <span>
          {payout === undefined ? (
            "The prover lost the bond."
          ) : (
            <>
              The prover lost the bond; each <Term word="ticket">ticket</Term> collects{" "}
              <Amount wei={payout.ticket} />, <Amount wei={payout.burned} /> is burned.
            </>
          )}{" "}
          The request is open for another claim.
        </span>
      </p>
    );
  }
  if (state === "FINAL" || isFinalByTime) {
    return (
      <p className="notice tone-good">
        <strong>Final</strong>
        <span>
          {state === "FINAL"
            ? "Agents can rely on this output; nobody can change it any more."
            : "Nobody can change it any more, though nobody has recorded it yet: agents can rely on it."}
        </span>
      </p>
    );
  }
  return (
    <p className={`notice ${tickets > 0 ? "tone-wait" : "tone-info"}`}>
      <strong>{tickets > 0 ? "Disputed: not final" : "Not final yet"}</strong>
      <span>
        {tickets > 0
          ? "A challenger says that this output is wrong. The prover has to show its work."
          : "Challengers run it again until the window closes."}{" "}
        {finalAt !== undefined && (
          <>
            If nobody moves, it is final: <Countdown until={finalAt} over="now" />.
          </>
        )}
      </span>
    </p>
  );
}

function Promised({ promise }: { readonly promise: NonNullable<ClaimData["promise"]> }) {
  if ("digest" in promise) return <Id id={promise.digest} to="signed claim" />;
  const { batch, leaf } = promise;
  return (
    <Link to="/batches/$id/leaves/$index" params={{ id: batch, index: `${leaf}` }} title={batch}>
      leaf {leaf} of batch {shortId(batch)}
    </Link>
  );
}

function Parties({ claim }: { readonly claim: ClaimData }) {
  return (
    <Facts
      of={[
        ["claim", <Id key="c" id={claim.claimId} what="claim" />],
        [
          <Term key="rt" word="request">
            request
          </Term>,
          <Id key="r" id={claim.requestId} to="request" />,
        ],
        claim.promise === undefined
          ? undefined
          : [
              <Term key="pr" word="promise">
                was a promise
              </Term>,
              <Promised key="pm" promise={claim.promise} />,
            ],
        [
          <Term key="pt" word="prover">
            prover
          </Term>,
          <Id key="p" id={proverOf(claim)} to="account" />,
        ],
        claim.promisedBy === undefined
          ? undefined
          : ["filed by", <Id key="f" id={claim.prover} to="account" />],
        claim.operator === undefined || claim.promisedBy !== undefined
          ? undefined
          : [
              <Term key="ot" word="operator">
                operator
              </Term>,
              <Id key="o" id={claim.operator} to="account" />,
            ],
        [
          <Term key="bt" word="bond">
            bond
          </Term>,
          <Amount key="b" wei={claim.bond} />,
        ],
        [
          <Term key="tt" word="ticket">
            ticket bond
          </Term>,
          <Amount key="t" wei={claim.ticketBond} />,
        ],
        [
          <Term key="ct" word="challenger">
            challengers
          </Term>,
          claim.challengers.length === 0 ? (
            "none"
          ) : (
            <span key="ch" className="row">
              {claim.challengers.map(({ account, hasCollected }) => (
                <span key={account}>
                  <Id id={account} to="account" />{" "}
                  {hasCollected && <span className="small soft">collected</span>}
                </span>
              ))}
            </span>
          ),
        ],
        ["hash of the output", <Id key="h" id={claim.outputHash} what="hash" />],
        claim.traceRoot === undefined
          ? undefined
          : [
              <Term key="trt" word="trace">
                trace root
              </Term>,
              <Id key="tr" id={claim.traceRoot} what="root" />,
            ],
      ]}
    />
  );
}
