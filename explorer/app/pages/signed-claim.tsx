import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { SignedClaim as SignedClaimData, SignedState } from "../../api/types.ts";
import { signedClaimQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { ClaimBadge, OpenedBadge, type Tone } from "../parts/badges.tsx";
import { EventTable } from "../parts/events.tsx";
import { Facts } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { Lifeline } from "../parts/lifeline.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { DataSheet } from "../parts/output.tsx";
import { Answered } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Time } from "../parts/time.tsx";
import { IdTitle, PageTitle } from "../parts/title.tsx";
import { VerifyHere } from "./claim/verify-here.tsx";

export function SignedClaim() {
  const { id } = useParams({ from: "/signed-claims/$id" });
  const found = useQuery(signedClaimQuery(id));
  return (
    <div className="stack">
      {found.data === undefined && <IdTitle kind="Signed claim" id={id} />}
      <Answered of={found}>{(signed) => <Known signed={signed} />}</Answered>
    </div>
  );
}

const VERDICTS: Readonly<Record<SignedState, readonly [Tone, string, string]>> = {
  QUEUED: [
    "wait",
    "Waits for stake",
    "Its prover's stake is at work for other promises. None of it leaves while this one waits.",
  ],
  OPEN: ["wait", "It is a claim now", "It stands or falls as every claim does."],
  STOOD: [
    "good",
    "Stood",
    "Nobody showed it to be wrong: the deposit went to its prover and was burned, in halves.",
  ],
  FELL: [
    "bad",
    "Fell",
    "Its prover lost the bond out of its stake, and the deposit went back to who opened it.",
  ],
  TAKEN_BACK: [
    "none",
    "Taken back",
    "Its bond was above all stake of its prover. Anybody may open it again.",
  ],
};

function Known({ signed }: { readonly signed: SignedClaimData }) {
  const { digest, state, claim, tooDearSince, timeline } = signed;
  const [tone, name, meaning] = VERDICTS[state];
  return (
    <>
      <PageTitle name={`Signed claim ${shortId(digest)}`} aside={<OpenedBadge state={state} />}>
        <Term word="signed claim">Signed claim</Term> on <ModelName of={signed} />
      </PageTitle>
      <p className={`notice tone-${tone}`}>
        <strong>{name}</strong>
        <span>
          {meaning}
          {tooDearSince !== undefined && (
            <>
              {" "}
              It is the first of its queue, and its bond is above the stake: <Time at={tooDearSince} />.
            </>
          )}
        </span>
      </p>
      <section className="sheet" aria-labelledby="life">
        <h2 id="life">Its life</h2>
        <Lifeline of={signed} since={timeline[0]?.time ?? signed.shownAt} />
      </section>
      <div className="columns">
        <section className="sheet" aria-labelledby="input">
          <h2 id="input">Input</h2>
          <DataSheet data={signed.input} />
        </section>
        <section className="sheet" aria-labelledby="output">
          <h2 id="output">Signed output</h2>
          <DataSheet data={signed.output} />
        </section>
      </div>
      <VerifyHere of={signed} what="signed claim" />
      {claim !== undefined && (
        <Link className="sheet way-on" to="/claims/$id" params={{ id: claim.claimId }}>
          <strong>
            The claim that it became <ClaimBadge claim={claim} />
          </strong>
          <span>Its window, its demands and its end →</span>
        </Link>
      )}
      {claim !== undefined && claim.tickets > 0 && (
        <Link className="sheet way-on is-bad" to="/claims/$id/dispute" params={{ id: claim.claimId }}>
          <strong>The dispute</strong>
          <span>What was opened of the trace, where it parts from the honest one, and the arithmetic →</span>
        </Link>
      )}
      <section className="sheet" aria-labelledby="terms">
        <h2 id="terms">What was signed</h2>
        <Terms signed={signed} />
      </section>
      <section className="sheet" aria-labelledby="moves">
        <h2 id="moves">Every move</h2>
        <EventTable events={timeline} />
      </section>
    </>
  );
}

function Terms({ signed }: { readonly signed: SignedClaimData }) {
  const { digest, prover, requester, opener, deposit, minBond, issuedAt, end, passes, ahead } = signed;
  return (
    <Facts
      of={[
        ["digest", <Id key="d" id={digest} what="digest" />],
        [
          <Term key="pt" word="prover">
            signed for
          </Term>,
          <Id key="p" id={prover} to="account" />,
        ],
        requester === undefined ? undefined : ["for", <Id key="r" id={requester} to="account" />],
        ["opened by", <Id key="o" id={opener} to="account" />],
        [
          <Term key="dt" word="deposit">
            deposit
          </Term>,
          <Amount key="de" wei={deposit} />,
        ],
        BigInt(minBond) === 0n ? undefined : ["least bond", <Amount key="m" wei={minBond} />],
        ["signed", <Time key="i" at={issuedAt} />],
        ["could be shown until", <Time key="e" at={end} />],
        ahead === undefined ? undefined : ["wait before it", ahead],
        passes === 0
          ? undefined
          : ["went to the end of the queue", passes === 1 ? "once" : `${passes} times`],
      ]}
    />
  );
}
