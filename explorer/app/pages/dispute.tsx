import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Hex } from "../../../base/bytes.ts";
import type { Claim, Dispute as DisputeData } from "../../api/types.ts";
import { claimQuery, disputeQuery } from "../data/queries.ts";
import { ClaimBadge, FALLS } from "../parts/badges.tsx";
import { shortId } from "../parts/id.tsx";
import { Jump } from "../parts/jump.tsx";
import { Answered, Failure } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Countdown, Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";
import { descentQuery } from "../verify/client.ts";
import { Conviction } from "./dispute/conviction.tsx";
import { Tree } from "./dispute/tree.tsx";

export function Dispute() {
  const { id } = useParams({ from: "/claims/$id/dispute" });
  const claim = useQuery(claimQuery(id));
  const dispute = useQuery(disputeQuery(id));
  return (
    <div className="stack">
      <PageTitle
        name={`Dispute of ${shortId(id)}`}
        aside={claim.data === undefined ? undefined : <ClaimBadge claim={claim.data} />}
      >
        Dispute of{" "}
        <Link to="/claims/$id" params={{ id }}>
          claim <span className="mono">{shortId(id)}</span>
        </Link>
      </PageTitle>
      <Answered of={dispute}>
        {(data) => (
          <>
            <Turn dispute={data} />
            {claim.data !== undefined && <Compared dispute={data} claim={claim.data} />}
          </>
        )}
      </Answered>
    </div>
  );
}

/** Whose move it is, or how it ended. */
function Turn({
  dispute: { conviction, traceRoot, traceDeadline, openings, isOver },
}: {
  readonly dispute: DisputeData;
}) {
  if (conviction !== undefined) {
    return (
      <p className="notice tone-bad">
        <strong>The claim fell: {FALLS[conviction.reason]}</strong>
        <span>
          <Time at={conviction.at} />, by a transaction of a challenger or of anybody else.{" "}
          {conviction.fault?.kind === "ELEMENT" && <Jump to="conviction">The arithmetic</Jump>}
        </span>
      </p>
    );
  }
  if (isOver) {
    return (
      <p className="notice tone-good">
        <strong>The claim stood</strong>
        <span>Every demand was answered, and nobody showed a fault.</span>
      </p>
    );
  }
  const open = openings.filter(({ content }) => content === undefined);
  return (
    <p className="notice tone-wait">
      {traceRoot === undefined ? (
        <>
          <strong>The prover has to commit to the trace</strong>
          <span>
            All numbers of the run, by one hash.{" "}
            {traceDeadline !== undefined && <Countdown until={traceDeadline} over="The time is over" />}
          </span>
        </>
      ) : open.length > 0 ? (
        <>
          <strong>
            The prover has to answer {open.length === 1 ? "a demand" : `${open.length} demands`}
          </strong>
          <span>
            {open.map(({ position, text, deadline }) => (
              <span key={position} className="block">
                {text}: <Countdown until={deadline} over="the time is over" />
              </span>
            ))}
          </span>
        </>
      ) : (
        <>
          <strong>The challengers' turn</strong>
          <span>Demand a deeper node, convict, or let the claim become final.</span>
        </>
      )}
    </p>
  );
}

function Compared({ dispute, claim }: { readonly dispute: DisputeData; readonly claim: Claim }) {
  const { tops, openings, conviction } = dispute;
  const shown = {
    tops: tops as Hex[],
    openings: openings.map(({ step, level, index, content }) => ({
      ...{ step, level, index },
      ...(content === undefined ? {} : { content: content as Hex[] }),
    })),
  };
  const floors = useQuery({
    ...descentQuery(claim, shown),
    enabled: !claim.input.isCut && tops.length > 0,
  });
  return (
    <>
      <section className="sheet stack" aria-labelledby="tree">
        <div>
          <h2 id="tree">Where the two traces part</h2>
          <p className="soft">
            The claimed <Term word="trace">trace</Term> as far as it was opened, each node beside that of the
            honest run, which this browser computed. Below a node that is the same, everything is the same.
          </p>
        </div>
        {floors.error !== null && (
          <Failure
            error={new Error(`The honest trace could not be computed here: ${floors.error.message}`)}
          />
        )}
        <Tree dispute={dispute} floors={floors.data} />
      </section>
      {conviction !== undefined && <Conviction dispute={dispute} claim={claim} conviction={conviction} />}
    </>
  );
}
