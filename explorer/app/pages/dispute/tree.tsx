import type { Dispute } from "../../../api/types.ts";
import { Id, shortId } from "../../parts/id.tsx";
import { Term } from "../../parts/term.tsx";
import { Countdown, durationText } from "../../parts/time.tsx";
import type { Floor } from "../../verify/descent.ts";
import { withoutShape } from "./conviction.tsx";

type Opening = Dispute["openings"][number];

interface TreeProps {
  readonly dispute: Dispute;
  /** undefined while the honest trace is being computed */
  readonly floors: readonly Floor[] | undefined;
}

/** The tree from the trace's root down, one floor for each node that was opened. */
export function Tree({ dispute, floors }: TreeProps) {
  const { traceRoot, tops, openings, traceDeadline } = dispute;
  if (traceRoot === undefined) {
    return (
      <p className="soft">
        Nothing is opened: the prover has not committed to a trace.{" "}
        {traceDeadline !== undefined && <Countdown until={traceDeadline} over="The time for it is over." />}
      </p>
    );
  }
  const answered = openings.filter(({ content }) => content !== undefined);
  return (
    <ol className="floors">
      <li className="floor">
        <div className="row spread">
          <strong>
            Trace root <Id id={traceRoot} what="root" />
          </strong>
          <span className="small soft">a root for each of the steps: all numbers of the run</span>
        </div>
        <Strip floor={floors?.[0]} count={tops.length} dispute={dispute} />
      </li>
      {openings.map((opening) => (
        <FloorOf
          key={opening.position}
          opening={opening}
          floor={opening.content === undefined ? undefined : floors?.[1 + answered.indexOf(opening)]}
          dispute={dispute}
        />
      ))}
    </ol>
  );
}

/** What an opening shows, in words. */
function titleOf({ step, opens, openedLevel, content }: Opening, { steps }: Dispute): string {
  if (step < 0)
    return opens === "roots"
      ? "Roots of a group of steps"
      : `Nodes of level ${openedLevel} over the steps' roots`;
  const opcode = steps[step]?.opcode;
  const tensor = `the tensor of step ${step}${opcode === undefined ? "" : ` (${opcode})`}`;
  if (opens === "nodes") return `Nodes of level ${openedLevel} in ${tensor}`;
  return content?.length === 1 ? `The one word of ${tensor}` : `Words of ${tensor}`;
}

function FloorOf({
  opening,
  floor,
  dispute,
}: {
  readonly opening: Opening;
  readonly floor: Floor | undefined;
  readonly dispute: Dispute;
}) {
  const { demandedBy, demandedAt, deadline, revealedAt, isOverdue, content } = opening;
  return (
    <li className="floor">
      <div className="row spread">
        <strong>{titleOf(opening, dispute)}</strong>
        <span className="small soft">
          <Term word="demand">demanded</Term> by <Id id={demandedBy} to="account" plain />,{" "}
          {revealedAt !== undefined ? (
            `answered after ${durationText(revealedAt - demandedAt)}`
          ) : isOverdue ? (
            "never answered"
          ) : (
            <Countdown until={deadline} over="the time is over" />
          )}
        </span>
      </div>
      {content === undefined ? (
        <p className="waiting">{isOverdue ? "Nobody answered in time." : "Waiting for the prover…"}</p>
      ) : (
        <Strip floor={floor} count={content.length} dispute={dispute} />
      )}
    </li>
  );
}

const NAMES = { roots: "roots of tensors", nodes: "nodes", words: "words of 32 bytes" } as const;

interface StripProps {
  readonly floor: Floor | undefined;
  readonly count: number;
  readonly dispute: Dispute;
}

/** The nodes that one opening showed, in order, as cells. */
function Strip({ floor, count, dispute }: StripProps) {
  if (floor === undefined)
    return <div className="bone" style={{ width: `${Math.min(100, 1.6 * count)}%` }} />;
  const { cells, kind, first } = floor;
  const different = cells.filter(({ state }) => state === "different").length;
  const at = cells.findIndex(({ state }) => state === "different");
  const found = cells[at];
  return (
    <div className="stack near">
      <div
        className="strip"
        role="img"
        aria-label={`${count} ${NAMES[kind]}: ${different} differ from the honest run${at < 0 ? "" : `, the first is number ${first + at}`}`}
      >
        {cells.map(({ state }, i) => (
          <span key={i} className={`cell cell-${state}${i === at ? " is-first" : ""}`} />
        ))}
      </div>
      {found === undefined ? (
        <p className="small soft">All {count} are those of the honest run.</p>
      ) : (
        <>
          <p className="small">
            {different === 1 ? "One differs" : `${different} differ`}; the first:{" "}
            <strong>{nameOf(floor, at, dispute)}</strong>. Claimed{" "}
            <span className="mono">{shortId(found.claimed)}</span>, honest{" "}
            <span className="mono">{shortId(found.honest)}</span>
          </p>
          {floor.partings.length > 0 && <Partings floor={floor} />}
        </>
      )}
    </div>
  );
}

function nameOf({ kind, first, level }: Floor, at: number, { steps }: Dispute): string {
  const index = first + at;
  if (kind === "words") return `word ${index}`;
  if (kind === "nodes") return `node ${index} of level ${level}`;
  const step = steps[index];
  return step === undefined ? `step ${index}` : withoutShape(step.text);
}

const SHOWN = 12;

function Partings({ floor: { partings, step } }: { readonly floor: Floor }) {
  return (
    <table className="table partings">
      <caption className="unseen">Elements of the opened words that differ</caption>
      <thead>
        <tr>
          <th>element of step {step}</th>
          <th className="right">honest</th>
          <th className="right">claimed</th>
        </tr>
      </thead>
      <tbody>
        {partings.slice(0, SHOWN).map(({ element, honest, claimed }, i) => (
          <tr key={element} className={i === 0 ? "is-first" : ""}>
            <td className="number">{element}</td>
            <td className="right mono">{honest}</td>
            <td className="right mono wrong">{claimed}</td>
          </tr>
        ))}
      </tbody>
      {partings.length > SHOWN && (
        <tfoot>
          <tr>
            <td colSpan={3} className="soft">
              and {partings.length - SHOWN} more
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}
