import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ModelSummary } from "../../api/types.ts";
import { modelsQuery } from "../data/queries.ts";
import { LaneMark } from "../parts/badges.tsx";
import { counted } from "../parts/counted.ts";
import { shortId } from "../parts/id.tsx";
import { Outside } from "../parts/outside.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { PageTitle } from "../parts/title.tsx";

export function Models() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(modelsQuery);
  const models = data?.pages.flatMap(({ items }) => items);
  return (
    <div className="stack">
      <PageTitle name="Models">
        <Term word="model">Models</Term>
      </PageTitle>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {models === undefined && error === null && <Loading lines={8} />}
      {models?.length === 0 && (
        <Empty title="No model is registered">
          <code>assay model register sentiment</code> puts one on the chain.
        </Empty>
      )}
      <ul className="columns cards">
        {models?.map((model) => (
          <ModelCard key={model.modelId} model={model} />
        ))}
      </ul>
      {hasNextPage && (
        <p>
          <button
            type="button"
            className="button"
            disabled={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            More models
          </button>
        </p>
      )}
    </div>
  );
}

function ModelCard({ model }: { readonly model: ModelSummary }) {
  const { modelId, name, description, lanes, requests, falls, steps, isProofHalted, keyOrigin, isPublished } =
    model;
  return (
    <li className="sheet card">
      <h2>
        <Link to="/models/$id" params={{ id: modelId }} className="card-link">
          {name === undefined ? <span className="mono">{shortId(modelId)}</span> : <Outside text={name} />}
        </Link>
      </h2>
      <p className={description === undefined ? "soft" : ""}>
        {description === undefined ? (
          "The explorer has no folder of this model: only its id is known."
        ) : (
          <Outside text={description} />
        )}
      </p>
      <div className="row">
        {lanes.map((lane) => (
          <LaneMark key={lane} lane={lane} plain />
        ))}
        {keyOrigin === "development" && <span className="badge tone-wait">development key</span>}
        {isProofHalted && <span className="badge tone-bad">proofs halted</span>}
      </div>
      <p className="small soft card-foot">
        {counted(requests, "request")}
        {falls > 0 && `, ${counted(falls, "claim")} fell`}
        {steps > 0 && `; ${counted(steps, "step")}`}
        {isPublished && ", weights on the chain"}
      </p>
    </li>
  );
}
