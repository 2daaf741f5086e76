import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Batch as BatchData, Deadline, LeafSummary, OpenedLeaf } from "../../api/types.ts";
import { batchQuery, leavesQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { BatchBadge, ClaimBadge, OpenedBadge } from "../parts/badges.tsx";
import { counted } from "../parts/counted.ts";
import { EventTable } from "../parts/events.tsx";
import { Facts } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { Lifeline } from "../parts/lifeline.tsx";
import { type Column, Listing } from "../parts/listing.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { dataText } from "../parts/output.tsx";
import { Outside } from "../parts/outside.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Countdown, durationText, Time } from "../parts/time.tsx";
import { IdTitle, PageTitle } from "../parts/title.tsx";

const COUNT = new Intl.NumberFormat("en");

export function Batch() {
  const { id } = useParams({ from: "/batches/$id" });
  const found = useQuery(batchQuery(id));
  return (
    <div className="stack">
      {found.data === undefined && <IdTitle kind="Batch" id={id} />}
      <Answered of={found}>{(batch) => <Known batch={batch} />}</Answered>
    </div>
  );
}

function Known({ batch }: { readonly batch: BatchData }) {
  const { batchId, state, open, openedLeaves, postedAt, timeline } = batch;
  return (
    <>
      <PageTitle name={`Batch ${shortId(batchId)}`} aside={<BatchBadge state={state} isOpen={open > 0} />}>
        <Term word="batch">Batch</Term> of {counted(batch.count, "output")} of <ModelName of={batch} />
      </PageTitle>
      <Verdict batch={batch} />
      <section className="sheet" aria-labelledby="life">
        <h2 id="life">Its life</h2>
        <Lifeline of={{ timeline, deadlines: deadlinesOf(batch) }} since={postedAt} />
      </section>
      {openedLeaves.length > 0 && <Opened batchId={batchId} leaves={openedLeaves} />}
      <Leaves batchId={batchId} />
      <section className="sheet" aria-labelledby="terms">
        <h2 id="terms">Who and how much</h2>
        <Terms batch={batch} />
      </section>
      <section className="sheet" aria-labelledby="moves">
        <h2 id="moves">Every move</h2>
        <EventTable events={timeline} />
      </section>
    </>
  );
}

function deadlinesOf({ state, windowEnd }: BatchData): Deadline[] {
  return [
    {
      kind: "window",
      at: windowEnd,
      by: "challenger",
      text: "last leaf opened",
      isOver: state !== "RUNNING",
    },
  ];
}

/** What the state means for whoever wants to use an output. */
function Verdict({ batch: { state, finalAt, fellAt, windowEnd, open } }: { readonly batch: BatchData }) {
  if (state === "FALLEN") {
    return (
      <p className="notice tone-bad">
        <strong>
          Fell
          {fellAt !== undefined && (
            <>
              , <Time at={fellAt} />
            </>
          )}
        </strong>
        <span>
          One output in it was wrong, so none of them counts: the prover lost the bond of that leaf.
        </span>
      </p>
    );
  }
  if (state === "FINAL") {
    return (
      <p className="notice tone-good">
        <strong>Final</strong>
        <span>Contracts can read every output in it; nobody can change one any more.</span>
      </p>
    );
  }
  return (
    <p className={`notice ${open > 0 ? "tone-wait" : "tone-info"}`}>
      <strong>{open > 0 ? "Doubted: not final" : "Not final yet"}</strong>
      <span>
        {open > 0
          ? `${counted(open, "leaf is", "leaves are")} opened; the batch waits for the end of each claim.`
          : "Challengers run every output again until the window closes."}{" "}
        {finalAt === undefined ? (
          <>
            Leaves can be opened: <Countdown until={windowEnd} over="no more" />.
          </>
        ) : (
          <>
            If nobody opens one, it is final: <Countdown until={finalAt} over="now" />.
          </>
        )}
      </span>
    </p>
  );
}

function Opened({ batchId, leaves }: { readonly batchId: string; readonly leaves: readonly OpenedLeaf[] }) {
  return (
    <section className="sheet" aria-labelledby="opened">
      <h2 id="opened">Leaves that somebody opened</h2>
      <ul className="stack near">
        {leaves.map(({ index, status, opener, claim }) => (
          <li key={index} className="row">
            <Link to="/batches/$id/leaves/$index" params={{ id: batchId, index: `${index}` }}>
              leaf {index}
            </Link>
            <OpenedBadge state={status} />
            <span>
              by <Id id={opener} to="account" />
            </span>
            {claim !== undefined && (
              <span className="row">
                <Id id={claim.claimId} to="claim" />
                <ClaimBadge claim={claim} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const columnsOf = (batchId: string): readonly Column<LeafSummary>[] => [
  {
    name: "leaf",
    width: "5rem",
    cell: ({ index }) => (
      <Link to="/batches/$id/leaves/$index" params={{ id: batchId, index: `${index}` }}>
        {index}
      </Link>
    ),
  },
  {
    name: "input",
    width: "minmax(10rem, 2fr)",
    cell: ({ input }) => <Outside text={dataText(input)} />,
  },
  {
    name: "output",
    width: "minmax(8rem, 1fr)",
    cell: ({ output }) => <Outside text={dataText(output)} />,
  },
  {
    name: "state",
    width: "9rem",
    cell: ({ state, opened }) =>
      opened === undefined ? <BatchBadge state={state} /> : <OpenedBadge state={opened.status} />,
  },
];

function Leaves({ batchId }: { readonly batchId: string }) {
  const found = useInfiniteQuery(leavesQuery(batchId));
  return (
    <section className="stack near" aria-labelledby="leaves">
      <h2 id="leaves">Its outputs</h2>
      <Listing
        of={found}
        columns={columnsOf(batchId)}
        idOf={({ index }) => `${index}`}
        label="Leaves"
        empty={<Empty title="None" />}
      />
    </section>
  );
}

function Terms({ batch }: { readonly batch: BatchData }) {
  const { batchId, prover, bond, window, root, bytes, gasPerLeaf, count, transaction } = batch;
  return (
    <Facts
      of={[
        ["batch", <Id key="b" id={batchId} what="batch" />],
        [
          <Term key="pt" word="prover">
            posted by
          </Term>,
          <Id key="p" id={prover} to="account" />,
        ],
        [
          <Term key="bt" word="bond">
            bond behind each leaf
          </Term>,
          <Amount key="bo" wei={bond} />,
        ],
        [
          <Term key="wt" word="window">
            window
          </Term>,
          durationText(window),
        ],
        [
          "gas for each output",
          gasPerLeaf === undefined ? (
            "–"
          ) : (
            <Link key="g" to="/transactions/$id" params={{ id: transaction }} className="number">
              {COUNT.format(Math.round(gasPerLeaf))}
            </Link>
          ),
        ],
        ["data", `${COUNT.format(bytes)} bytes, ${COUNT.format(Math.round(bytes / count))} for each output`],
        ["root", <Id key="r" id={root} what="root" />],
      ]}
    />
  );
}
