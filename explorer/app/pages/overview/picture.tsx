import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Overview } from "../../../api/types.ts";
import { Term } from "../../parts/term.tsx";
import { isPromised } from "./promised.tsx";

const COUNT = new Intl.NumberFormat("en");

interface TrackProps {
  readonly lane: "execution" | "proof" | "bond" | "batched";
  readonly stages: readonly ReactNode[];
  readonly final: number;
}

function Track({ lane, stages, final }: TrackProps) {
  return (
    <li className={`track lane-${lane}`}>
      <span className="track-name">{lane}</span>
      <ol className="track-stages">
        {stages.map((stage, i) => (
          <li key={i} className="stage">
            <span>{stage}</span>
          </li>
        ))}
        <li className="stage stage-final">
          <span>
            <strong className="number">{COUNT.format(final)}</strong> final
          </span>
        </li>
      </ol>
    </li>
  );
}

/** What Assay is, in one picture, with this deployment's numbers in it. */
export function Picture({ data }: { readonly data: Overview }) {
  const { requests, claims, finalByLane } = data;
  const all = requests.OPEN + requests.BUSY + requests.DONE + requests.REFUNDED;
  return (
    <section className="sheet picture" aria-label="What Assay is">
      <div className="picture-ask">
        <strong className="number">{COUNT.format(all)}</strong>
        <Link to="/requests">requests</Link>
        <p className="small soft">
          An agent asks a <Term word="model">model</Term> for one output and says which{" "}
          <Term word="lane">lanes</Term> it accepts. It reads the output only when it is final.
        </p>
      </div>
      <ol className="tracks">
        <Track
          lane="execution"
          final={finalByLane.EXECUTION}
          stages={["The chain runs the whole model itself"]}
        />
        <Track
          lane="proof"
          final={finalByLane.PROOF}
          stages={["A prover makes a zero-knowledge proof", "A contract verifies it"]}
        />
        <Track
          lane="bond"
          final={finalByLane.BOND}
          stages={[
            <>
              A <Term word="prover">prover</Term> states the output and puts down a{" "}
              <Term word="bond">bond</Term>
            </>,
            <>
              <Term word="challenger">Challengers</Term> run the model again, for the length of a{" "}
              <Term word="window">window</Term>
            </>,
          ]}
        />
        <li className="fork">
          <span className="fork-name">if it is wrong</span>
          <ol className="track-stages">
            <li className="stage">
              <span>
                The prover commits to the <Term word="trace">trace</Term>, every number on the way
              </span>
            </li>
            <li className="stage">
              <span>
                <Term word="demand">Demands</Term> open it, down to one number
              </span>
            </li>
            <li className="stage stage-fallen">
              <span>
                The contract computes that number.{" "}
                <Link to="/claims" search={{ state: "FALLEN" }}>
                  <strong className="number">{COUNT.format(claims.FALLEN)}</strong>{" "}
                  {claims.FALLEN === 1 ? "claim" : "claims"} fell
                </Link>
              </span>
            </li>
          </ol>
        </li>
        {isPromised(data) && (
          <Track
            lane="batched"
            final={data.promises.leaves.final}
            stages={[
              <>
                A prover posts many outputs at once in a <Link to="/batches">batch</Link>, its{" "}
                <Term word="stake">stake</Term> behind them
              </>,
              <>
                Whoever doubts one opens its <Term word="leaf">leaf</Term>: it becomes a claim
              </>,
            ]}
          />
        )}
      </ol>
    </section>
  );
}
