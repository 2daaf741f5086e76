import { type ReactNode, useState } from "react";
import { Outside } from "../../parts/outside.tsx";
import type { StepSheet } from "../../verify/steps.ts";
import { Graph } from "./graph.tsx";

interface StepsProps<Step> {
  readonly steps: readonly Step[];
  /** what is known of a step beside the program */
  readonly children: (step: Step) => ReactNode;
}

/** A program as a graph, with the step that is chosen beside it. */
export function Steps<Step extends StepSheet>({ steps, children }: StepsProps<Step>) {
  const [chosen, setChosen] = useState(steps.length - 1);
  const step = (steps[chosen] ?? steps.at(-1)) as Step;
  return (
    <div className="program">
      <section className="sheet program-graph" aria-label="Steps">
        <Graph steps={steps} chosen={step.index} onChoose={setChosen} />
      </section>
      <section className="sheet stack near program-step" aria-live="polite">
        <h2>
          Step {step.index}: {step.opcode}
        </h2>
        <p className="mono small">
          <Outside text={step.text} />
        </p>
        {step.opcode !== "codec" && (
          <p className="small soft">
            For every input, its numbers are proven to lie between {step.low} and {step.high}.
          </p>
        )}
        {children(step)}
      </section>
    </div>
  );
}
