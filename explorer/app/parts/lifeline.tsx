import type { Claim } from "../../api/types.ts";
import { useChainNow } from "../data/chain-time.ts";
import { toneOf } from "./events.tsx";
import { Hint } from "./hint.tsx";
import { Outside } from "./outside.tsx";
import { absoluteText, Countdown, durationText } from "./time.tsx";

const TURNS = { prover: "prover", challenger: "challenger", anybody: "time alone" } as const;

/** A claim's life on one line: its moves as dots, its deadlines as marks, and the second that it is on the chain. */
export function Lifeline({
  claim: { claimedAt, timeline, deadlines, endedAt, windowEnd },
}: {
  readonly claim: Claim;
}) {
  const now = useChainNow();
  const ahead = deadlines.filter(({ isOver }) => !isOver);
  const ends = [windowEnd, endedAt ?? 0, ...ahead.map(({ at }) => at), ...timeline.map(({ time }) => time)];
  const end = endedAt === undefined ? Math.max(...ends, claimedAt + 1) : Math.max(endedAt, windowEnd);
  const placeOf = (at: number): string =>
    `${Math.min(100, Math.max(0, (100 * (at - claimedAt)) / (end - claimedAt))).toFixed(2)}%`;
  const lived = endedAt ?? now;
  const moves = timeline.filter(({ time }) => time >= claimedAt);
  return (
    <div className="stack near">
      <div className="lifeline">
        <span
          className="lifeline-window"
          style={{ width: placeOf(windowEnd) }}
          title={`the window, until ${absoluteText(windowEnd)}`}
        />
        {lived !== undefined && <span className="lifeline-lived" style={{ width: placeOf(lived) }} />}
        {ahead.map(({ kind, at, text, position }) => (
          <span
            key={`${kind}-${position ?? at}`}
            className="lifeline-mark"
            style={{ left: placeOf(at) }}
            title={text}
          />
        ))}
        {moves.map(({ id, name, text, time }) => (
          <span key={id} className="lifeline-move" style={{ left: placeOf(time) }}>
            <Hint
              tip={
                <>
                  <Outside text={text} />
                  <br />
                  {durationText(time - claimedAt)} after the claim
                </>
              }
            >
              <span className={`dot tone-${toneOf(name)}`} />
              <span className="unseen">{name}</span>
            </Hint>
          </span>
        ))}
      </div>
      <div className="row spread small soft">
        <span>claimed</span>
        <span>
          {endedAt === undefined ? "last deadline" : `ended after ${durationText(endedAt - claimedAt)}`}
        </span>
      </div>
      {ahead.length > 0 && (
        <ul className="clocks">
          {ahead.map(({ kind, at, by, text, position }) => (
            <li key={`${kind}-${position ?? at}`} className="clock">
              <Countdown until={at} over="has passed" />
              <span>
                <Outside text={text} />
              </span>
              <span className="small soft">{TURNS[by]}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
