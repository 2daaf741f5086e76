import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import type { Hex } from "../../../base/bytes.ts";
import { claimQuery, modelQuery } from "../data/queries.ts";
import { ModelName } from "../parts/model-name.tsx";
import { Answered } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { PageTitle } from "../parts/title.tsx";
import { programQuery } from "../verify/client.ts";
import { Heat } from "./program/heat.tsx";
import { Steps } from "./program/steps.tsx";

/** A model, opened: what it computes, step by step, and each step's numbers in the run of a claim's input. */
export function Program() {
  const { id } = useParams({ from: "/models/$id/program" });
  const { claim: claimId = "" } = useSearch({ from: "/models/$id/program" });
  const model = useQuery(modelQuery(id));
  const claim = useQuery({ ...claimQuery(claimId), enabled: claimId !== "" });
  const program = useQuery(programQuery(id));
  const input =
    claim.data === undefined || claim.data.input.isCut ? undefined : (claim.data.input.hex as Hex);
  return (
    <div className="stack">
      <PageTitle name="Program">
        <Term word="program">Program</Term> of <ModelName of={{ modelId: id, modelName: model.data?.name }} />
      </PageTitle>
      <p className="lead">
        {claimId === "" ? (
          "Every step that is computed, in order. Open it from a claim to see the numbers of its run."
        ) : (
          <>
            Every step, with its numbers in the honest run of{" "}
            <Link to="/claims/$id" params={{ id: claimId }}>
              this claim's input
            </Link>
            , computed by this browser.
          </>
        )}
      </p>
      <Answered of={program} lines={12}>
        {(steps) => (
          <Steps steps={steps}>
            {(step) => input !== undefined && <Heat model={id} input={input} step={step} />}
          </Steps>
        )}
      </Answered>
    </div>
  );
}
