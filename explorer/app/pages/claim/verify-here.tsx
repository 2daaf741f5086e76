import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Hex } from "../../../../base/bytes.ts";
import type { Claim } from "../../../api/types.ts";
import { Id } from "../../parts/id.tsx";
import { Failure } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { runQuery } from "../../verify/client.ts";

type Statement = "claim" | "signed claim" | "leaf";

interface VerifyHereProps {
  readonly of: Pick<Claim, "modelId" | "input" | "output">;
  readonly what?: Statement;
}

/** Runs the model again in this browser, and compares. */
export function VerifyHere({ of, what = "claim" }: VerifyHereProps) {
  const [isWanted, setWanted] = useState(false);
  const { modelId, input, output } = of;
  const run = useQuery({ ...runQuery(modelId, input.hex as Hex), enabled: isWanted && !input.isCut });
  return (
    <section className="sheet stack near" aria-labelledby="verify">
      <h2 id="verify">Check it yourself</h2>
      <p>
        This browser fetches the <Term word="program">program</Term> and its weights, checks that the{" "}
        <Term word="model">model</Term>'s id commits to them, runs the input with the{" "}
        <Term word="executor, canonical">canonical executor</Term> and compares every byte. It takes nobody's
        word.
      </p>
      {input.isCut ? (
        <p className="soft">The input is too long to be shown here whole; `assay request` shows it.</p>
      ) : (
        run.data === undefined &&
        run.error === null && (
          <p>
            <button
              type="button"
              className="button first"
              disabled={run.isFetching}
              onClick={() => setWanted(true)}
            >
              {run.isFetching ? "Running…" : "Run it again here"}
            </button>
          </p>
        )
      )}
      <div aria-live="polite">
        {run.error !== null && (
          <Failure
            error={new Error(`Could not check: ${run.error.message}`)}
            retry={() => void run.refetch()}
          />
        )}
        {run.data !== undefined && (
          <Comparison what={what} claimed={output.hex} isCut={output.isCut} own={run.data} />
        )}
      </div>
    </section>
  );
}

interface ComparisonProps {
  readonly what: Statement;
  readonly claimed: string;
  readonly isCut: boolean;
  readonly own: { readonly output: string; readonly traceRoot: string; readonly seconds: number };
}

/** Whether what was said is what this browser computed, and where it differs. */
export function Comparison({ what, claimed, isCut, own }: ComparisonProps) {
  const isSame = isCut ? own.output.startsWith(claimed) : own.output === claimed;
  return (
    <div className={`notice ${isSame ? "tone-good" : "tone-bad"}`} data-verdict={isSame ? "right" : "wrong"}>
      <strong>
        {isSame
          ? `The ${what} is right: every byte is the same`
          : `The ${what} is wrong: this is not the output`}
      </strong>
      <p className="small">
        Run in {(1_000 * own.seconds).toFixed(0)} ms. The honest trace has the root{" "}
        <Id id={own.traceRoot} what="root" />.
      </p>
      {!isSame && (
        <div className="compare small">
          <span>claimed</span>
          <Bytes own={claimed} other={own.output} />
          <span>computed here</span>
          <Bytes own={own.output} other={claimed} />
        </div>
      )}
    </div>
  );
}

const WORD = 64;

/** Bytes by words of 32, those that differ marked. */
function Bytes({ own, other }: { readonly own: string; readonly other: string }) {
  const words = own.slice(2).match(new RegExp(`.{1,${WORD}}`, "g")) ?? [];
  return (
    <span className="mono bytes">
      {words.map((word, w) => (
        <span key={w} className="word">
          {word.match(/../g)?.map((byte, i) => {
            const at = 2 + WORD * w + 2 * i;
            return other.slice(at, at + 2) === byte ? byte : <mark key={i}>{byte}</mark>;
          })}
        </span>
      ))}
    </span>
  );
}
