import type { ChainEvent, Claim, Deadline } from "../../api/types.ts";
import { toneOf } from "./events.tsx";
import { Hint } from "./hint.tsx";
import { shortenIds } from "./id.tsx";
import { Outside } from "./outside.tsx";
import { Countdown, durationText } from "./time.tsx";

/** What a move is called in a word or two; moves of money alone have none. */
const NAMES: Readonly<Record<string, string>> = {
  Requested: "requested",
  Claimed: "claimed",
  Challenged: "challenged",
  TraceCommitted: "trace committed",
  Demanded: "demanded",
  Revealed: "revealed",
  Fell: "fell",
  Finalized: "final",
  Settled: "settled",
  Delivered: "delivered",
  Collected: "collected",
  Posted: "posted",
  LeafQueued: "leaf waits",
  LeafOpened: "leaf opened",
  LeafDropped: "leaf dropped",
  Released: "released",
  Queued: "waits for stake",
  HeadTooDear: "too dear",
  Passed: "passed",
  TakenBack: "taken back",
  Opened: "opened",
  Closed: "closed",
};
const TURNS = {
  prover: "the prover's turn",
  challenger: "the challengers' turn",
  anybody: "time alone decides",
} as const;

interface LifelineProps {
  readonly of: Pick<Claim, "timeline" | "deadlines">;
  /** second of its first move */
  readonly since: number;
}

/** A life on one line: the moves that were made, then the deadlines ahead, each in order of time. */
export function Lifeline({ of: { timeline, deadlines }, since }: LifelineProps) {
  const moves = timeline.filter(({ name, time }) => name in NAMES && time >= since);
  const ahead = deadlines.filter(({ isOver }) => !isOver).sort((a, b) => a.at - b.at);
  return (
    <ol className="life">
      {moves.map((event) => (
        <Move key={event.id} event={event} since={since} />
      ))}
      {ahead.map((deadline) => (
        <Ahead key={`${deadline.kind}-${deadline.position ?? deadline.at}`} deadline={deadline} />
      ))}
    </ol>
  );
}

function Move({
  event: { name, text, time },
  since,
}: {
  readonly event: ChainEvent;
  readonly since: number;
}) {
  return (
    <li className="station">
      <span className={`dot tone-${toneOf(name)}`} aria-hidden="true" />
      <Hint tip={<Outside text={shortenIds(text)} />}>{NAMES[name]}</Hint>
      <span className="small soft number">
        {time === since ? "at first" : `after ${durationText(time - since)}`}
      </span>
    </li>
  );
}

function Ahead({ deadline: { at, by, text } }: { readonly deadline: Deadline }) {
  return (
    <li className="station is-ahead">
      <span className="dot" aria-hidden="true" />
      <span className="clock">
        <Countdown until={at} over="has passed" />
      </span>
      <span className="small">
        <Outside text={shortenIds(text)} />
      </span>
      <span className="small soft">{TURNS[by]}</span>
    </li>
  );
}
