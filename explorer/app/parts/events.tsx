import { Link } from "@tanstack/react-router";
import type { ChainEvent } from "../../api/types.ts";
import { Amount } from "./amount.tsx";
import { Id, shortenIds, shortId } from "./id.tsx";
import { Outside } from "./outside.tsx";
import { Time } from "./time.tsx";

const GAS = new Intl.NumberFormat("en");

/** What an event is to those who watch: its colour. */
const TONES: Readonly<Record<string, string>> = {
  Requested: "info",
  Claimed: "info",
  Challenged: "wait",
  TraceCommitted: "info",
  Demanded: "wait",
  Revealed: "info",
  Fell: "bad",
  Finalized: "good",
  Settled: "good",
  Delivered: "good",
  Collected: "good",
  ProofHalted: "bad",
  Posted: "info",
  LeafOpened: "wait",
  LeafQueued: "wait",
  Opened: "wait",
  Queued: "wait",
  HeadTooDear: "wait",
};
export const toneOf = (name: string): string => TONES[name] ?? "none";

const KINDS = {
  fee: "fee",
  bond: "bond",
  ticket: "ticket",
  credit: "credit",
  withdrawal: "withdrawal",
  stake: "stake",
  deposit: "deposit",
} as const;

/** One line of the live stream. */
export function EventLine({ event }: { readonly event: ChainEvent }) {
  const { name, text, time, claim, request, batch, digest, account } = event;
  return (
    <li className="event-line">
      <span className={`dot tone-${toneOf(name)}`} aria-hidden="true" />
      <span className="event-text">
        <Outside text={shortenIds(text)} />
      </span>
      <span className="event-links small">
        {claim !== undefined ? (
          <Link to="/claims/$id" params={{ id: claim }}>
            claim {shortId(claim)}
          </Link>
        ) : request !== undefined ? (
          <Link to="/requests/$id" params={{ id: request }}>
            request {shortId(request)}
          </Link>
        ) : batch !== undefined ? (
          <Link to="/batches/$id" params={{ id: batch }}>
            batch {shortId(batch)}
          </Link>
        ) : digest !== undefined ? (
          <Link to="/signed-claims/$id" params={{ id: digest }}>
            signed {shortId(digest)}
          </Link>
        ) : account !== undefined ? (
          <Link to="/accounts/$id" params={{ id: account }}>
            {shortId(account)}
          </Link>
        ) : null}
      </span>
      <span className="event-time small soft">
        <Time at={time} plain />
      </span>
    </li>
  );
}

/** What each move was, who made it, what it cost and what it moved, oldest first. */
export function EventTable({ events }: { readonly events: readonly ChainEvent[] }) {
  return (
    <ol className="moves">
      {events.map((event) => (
        <Move key={event.id} event={event} />
      ))}
    </ol>
  );
}

function Move({ event }: { readonly event: ChainEvent }) {
  const { name, text, time, sender, gasUsed, transactionFee, transaction, money } = event;
  return (
    <li className="move">
      <span className={`dot tone-${toneOf(name)}`} aria-hidden="true" />
      <div className="stack near">
        <div className="row spread">
          <strong>
            <Outside text={shortenIds(text)} />
          </strong>
          <span className="small soft">
            <Time at={time} />
          </span>
        </div>
        <div className="row small soft">
          <span>
            by <Id id={sender} to="account" what="sender" plain />
          </span>
          <span className="number">{GAS.format(gasUsed)} gas</span>
          <span>
            cost <Amount wei={transactionFee} plain />
          </span>
          <Link to="/transactions/$id" params={{ id: transaction }}>
            transaction
          </Link>
        </div>
        {money.length > 0 && (
          <ul className="row small">
            {money.map(({ account, amount, kind }) => (
              <li key={`${account}-${kind}-${amount}`} className={BigInt(amount) < 0n ? "paid" : "gained"}>
                {KINDS[kind]} <Amount wei={amount} sign plain /> <Id id={account} to="account" plain />
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}
