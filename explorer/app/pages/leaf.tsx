import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Leaf as LeafData } from "../../api/types.ts";
import { leafQuery } from "../data/queries.ts";
import { save } from "../data/save.ts";
import { Amount } from "../parts/amount.tsx";
import { BatchBadge, ClaimBadge, OpenedBadge } from "../parts/badges.tsx";
import { Facts } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { ModelName } from "../parts/model-name.tsx";
import { DataSheet } from "../parts/output.tsx";
import { Answered } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Time } from "../parts/time.tsx";
import { IdTitle, PageTitle } from "../parts/title.tsx";
import { CheckLeaf } from "./leaf/check-leaf.tsx";

export function Leaf() {
  const { id, index } = useParams({ from: "/batches/$id/leaves/$index" });
  const found = useQuery(leafQuery(id, index));
  return (
    <div className="stack">
      {found.data === undefined && <IdTitle kind="Leaf of batch" id={id} />}
      <Answered of={found}>{(leaf) => <Known leaf={leaf} />}</Answered>
    </div>
  );
}

function Known({ leaf }: { readonly leaf: LeafData }) {
  const { batch, index, input, output, opened } = leaf;
  return (
    <>
      <PageTitle
        name={`Leaf ${index} of batch ${shortId(batch.batchId)}`}
        aside={
          <>
            <BatchBadge state={batch.state} isOpen={batch.open > 0} />
            {opened !== undefined && <OpenedBadge state={opened.status} />}
          </>
        }
      >
        <Term word="leaf">Leaf</Term> {index} of <ModelName of={batch} />
      </PageTitle>
      <div className="columns">
        <section className="sheet" aria-labelledby="input">
          <h2 id="input">Input</h2>
          <DataSheet data={input} />
        </section>
        <section className="sheet" aria-labelledby="output">
          <h2 id="output">Stated output</h2>
          <DataSheet data={output} />
        </section>
      </div>
      {opened !== undefined && <Doubt opened={opened} />}
      <CheckLeaf leaf={leaf} />
      <ForContracts leaf={leaf} />
      <section className="sheet" aria-labelledby="place">
        <h2 id="place">Where it stands</h2>
        <Facts
          of={[
            [
              <Term key="bt" word="batch">
                batch
              </Term>,
              <Id key="b" id={batch.batchId} to="batch" />,
            ],
            [
              <Term key="pt" word="prover">
                posted by
              </Term>,
              <Id key="p" id={batch.prover} to="account" />,
            ],
            ["posted", <Time key="t" at={batch.postedAt} />],
            ["bytes", (leaf.proof.payload.length - 2) / 2],
          ]}
        />
      </section>
    </>
  );
}

function Doubt({
  opened: { opener, deposit, shownAt, claim },
}: {
  readonly opened: NonNullable<LeafData["opened"]>;
}) {
  return (
    <section className="sheet" aria-labelledby="doubt">
      <h2 id="doubt">Somebody doubted it</h2>
      <Facts
        of={[
          ["opened by", <Id key="o" id={opener} to="account" />],
          [
            <Term key="dt" word="deposit">
              deposit
            </Term>,
            <Amount key="d" wei={deposit} />,
          ],
          ["opened", <Time key="t" at={shownAt} />],
          [
            <Term key="ct" word="claim">
              claim
            </Term>,
            claim === undefined ? (
              "not yet: it waits for stake"
            ) : (
              <span key="c" className="row">
                <Id id={claim.claimId} to="claim" />
                <ClaimBadge claim={claim} />
                {claim.tickets > 0 && (
                  <Link to="/claims/$id/dispute" params={{ id: claim.claimId }}>
                    its dispute
                  </Link>
                )}
              </span>
            ),
          ],
        ]}
      />
    </section>
  );
}

/** What a contract takes to read the leaf. */
function ForContracts({ leaf }: { readonly leaf: LeafData }) {
  const { batch, index, state, proof } = leaf;
  const isFinal = state === "FINAL";
  const name = `leaf-${batch.batchId.slice(2, 10)}-${index}.json`;
  const made = { batchId: batch.batchId, isFinal, ...proof };
  return (
    <section className="sheet stack near" aria-labelledby="contracts">
      <h2 id="contracts">Read it in a contract</h2>
      <p>
        <code>requireFinalLeaf</code> gives the output to a contract once the batch is final, and refuses
        before. It takes the leaf's bytes and its path; {isFinal ? "it passes now" : "it would refuse now"}.
      </p>
      <p className="row">
        <button
          type="button"
          className="button"
          onClick={() => save(name, new TextEncoder().encode(JSON.stringify(made, undefined, 2)))}
        >
          Download what it takes
        </button>
        <span className="small soft">
          as <code>assay batch prove</code> prints it, with calldata for{" "}
          <Id id={proof.reader} what="reader" plain />
        </span>
      </p>
    </section>
  );
}
