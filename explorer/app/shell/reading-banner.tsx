import type { Fault, Progress, Reading } from "../../site/forms.ts";
import { Outside } from "../parts/outside.tsx";

const COUNT = new Intl.NumberFormat("en");

/** How far a site without a server has read the chain, where that is not all. */
export function ReadingBanner({ reading }: { readonly reading: Reading }) {
  switch (reading.state) {
    case "connecting":
      return reading.fault === undefined ? (
        <div className="notice tone-info">
          <strong>Connecting to the chain's node…</strong>
        </div>
      ) : (
        <Trouble title="The chain's node cannot be reached" fault={reading.fault} isTriedAgain />
      );
    case "reading":
      return (
        <>
          {reading.fault !== undefined && <Trouble {...REFUSED} fault={reading.fault} />}
          <Reads progress={reading.progress} />
        </>
      );
    case "live":
      return reading.fault === undefined ? null : <Trouble {...REFUSED} fault={reading.fault} />;
    case "full":
      return <Full progress={reading.progress} limit={reading.limit} />;
    case "failed":
      return <Trouble title="This site cannot read its chain" fault={reading.fault} />;
  }
}

const REFUSED = { title: "The chain's node did not answer a question", isTriedAgain: true } as const;

interface TroubleProps {
  readonly title: string;
  readonly fault: Fault;
  readonly isTriedAgain?: boolean;
}

function Trouble({ title, fault, isTriedAgain = false }: TroubleProps) {
  return (
    <div className="notice tone-bad">
      <strong>{title}</strong>
      <p>
        <Outside text={`${fault.message} ${fault.nextStep}`} />
        {isTriedAgain && " This page asks again by itself."}
      </p>
    </div>
  );
}

function Reads({ progress: { first, at, newest, events, atOnce } }: { readonly progress: Progress }) {
  return (
    <div className="notice tone-info">
      <strong>Reading the chain in this browser</strong>
      <progress
        className="progress"
        aria-label="blocks that are read"
        max={Math.max(1, newest - first)}
        value={at - first}
      />
      <p>
        Block {COUNT.format(at)} of {COUNT.format(newest)}, {COUNT.format(events)} events so far. What is
        below is as of that block.
        {atOnce !== undefined && ` The node answers for at most ${COUNT.format(atOnce)} blocks at once.`}
      </p>
    </div>
  );
}

function Full({ progress, limit }: { readonly progress: Progress; readonly limit: number }) {
  return (
    <div className="notice tone-wait">
      <strong>More happened here than a page reads by itself</strong>
      <p>
        {COUNT.format(progress.events)} events are read, the limit is {COUNT.format(limit)}: everything below
        is as of block {COUNT.format(progress.at)} of {COUNT.format(progress.newest)}. `assay explorer`, with
        a server, shows all of it.
      </p>
    </div>
  );
}
