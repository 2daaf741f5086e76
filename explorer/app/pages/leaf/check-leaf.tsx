import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Hex } from "../../../../base/bytes.ts";
import type { Data, Leaf } from "../../../api/types.ts";
import { healthQuery } from "../../data/queries.ts";
import { Id } from "../../parts/id.tsx";
import { Failure } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { leafCheckQuery } from "../../verify/client.ts";
import { Comparison } from "../claim/verify-here.tsx";

type Place = { readonly nodes: readonly string[]; readonly isInBatch: boolean; readonly isOfId: boolean };

/** Whether what the server shows of a leaf is what the leaf's bytes stand for. */
const isShownTrue = ({ hex, bytes, isCut }: Data, read: Hex): boolean =>
  bytes === (read.length - 2) / 2 && (isCut ? read.startsWith(hex) : read === hex);

/** Follows the leaf's path in this browser, and runs the model on its input. */
export function CheckLeaf({ leaf: { batch, proof, input, output } }: { readonly leaf: Leaf }) {
  const [isWanted, setWanted] = useState(false);
  const { data: health } = useQuery(healthQuery);
  const at = { chainId: health?.chainId ?? 0, promises: (health?.promises ?? "0x") as Hex };
  const checked = useQuery({
    ...leafCheckQuery(at, batch.batchId as Hex, proof),
    enabled: isWanted && health?.promises !== undefined,
  });
  return (
    <section className="sheet stack near" aria-labelledby="check">
      <h2 id="check">Check it yourself</h2>
      <p>
        This browser follows the leaf's path to the root that the batch's id commits to, reads input and
        output out of the leaf's bytes, runs the input with the{" "}
        <Term word="executor, canonical">canonical executor</Term> and compares every byte.
      </p>
      {checked.data === undefined && checked.error === null && (
        <p>
          <button
            type="button"
            className="button first"
            disabled={checked.isFetching}
            onClick={() => setWanted(true)}
          >
            {checked.isFetching ? "Checking…" : "Check it here"}
          </button>
        </p>
      )}
      <div aria-live="polite" className="stack near">
        {checked.error !== null && (
          <Failure
            error={new Error(`Could not check: ${checked.error.message}`)}
            retry={() => void checked.refetch()}
          />
        )}
        {checked.data !== undefined && (
          <>
            <PlaceVerdict place={checked.data} />
            {!(isShownTrue(input, checked.data.input) && isShownTrue(output, checked.data.output)) && (
              <ShownOther />
            )}
            <Comparison what="leaf" claimed={checked.data.output} isCut={false} own={checked.data.run} />
          </>
        )}
      </div>
      <details>
        <summary className="small soft">
          Its path: {proof.path.length} siblings, from the leaf up to the root
        </summary>
        <ol className="stack near small">
          {proof.path.map((sibling, height) => (
            <li key={height} className="row">
              <span className="soft">{(proof.index >> height) & 1 ? "left" : "right"}</span>
              <Id id={sibling} what="sibling" />
              {checked.data?.nodes[height + 1] !== undefined && (
                <span>
                  gives <Id id={checked.data.nodes[height + 1] as string} what="node" />
                </span>
              )}
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}

function ShownOther() {
  return (
    <div className="notice tone-bad" data-shown="other">
      <strong>What this page shows above is not what the leaf's bytes stand for</strong>
      <p className="small">
        The server that filled this page is wrong about the leaf. The comparison below reads the leaf's own
        bytes.
      </p>
    </div>
  );
}

function PlaceVerdict({ place: { nodes, isInBatch, isOfId } }: { readonly place: Place }) {
  const isThere = isInBatch && isOfId;
  return (
    <div
      className={`notice ${isThere ? "tone-good" : "tone-bad"}`}
      data-place={isThere ? "there" : "elsewhere"}
    >
      <strong>
        {isThere
          ? "It stands in this batch"
          : isInBatch
            ? "The batch's id does not commit to this root"
            : "Its path does not lead to the batch's root"}
      </strong>
      <p className="small">
        The path leads to <Id id={nodes.at(-1) ?? ""} what="root" />.
      </p>
    </div>
  );
}
