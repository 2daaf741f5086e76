import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Lane, Overview as OverviewData } from "../../api/types.ts";
import { useLive } from "../data/live.ts";
import { newestEventsQuery, overviewQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { FALLS, LaneMark } from "../parts/badges.tsx";
import { EventLine } from "../parts/events.tsx";
import { Figure } from "../parts/figure.tsx";
import { Id } from "../parts/id.tsx";
import { Answered, Empty, Loading } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { durationText } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";
import { History } from "./overview/history.tsx";
import { Holdings } from "./overview/holdings.tsx";
import { Picture } from "./overview/picture.tsx";
import { isPromised, Promised } from "./overview/promised.tsx";

const COUNT = new Intl.NumberFormat("en");
const LANES: readonly Lane[] = ["EXECUTION", "PROOF", "BOND"];
const SHOWN_EVENTS = 14;

export function Overview() {
  const overview = useQuery(overviewQuery);
  return (
    <div className="stack far">
      <PageTitle name="Overview">Outputs of models, without trusting who ran them</PageTitle>
      <Answered of={overview} lines={10}>
        {(data) => (
          <>
            <Picture data={data} />
            <div className="columns" style={{ "--column": "24rem" } as React.CSSProperties}>
              <Stream />
              <div className="stack">
                <Outcomes data={data} />
                <Finality data={data} />
              </div>
            </div>
            <Holdings data={data} />
            {isPromised(data) && <Promised promises={data.promises} />}
            <History data={data} />
            <Deployment data={data} />
          </>
        )}
      </Answered>
    </div>
  );
}

/** The newest events: those that came live, then those that were there before; without the bookings that each makes. */
function Stream() {
  const live = useLive((state) => state.events);
  const before = useInfiniteQuery(newestEventsQuery);
  const events = useMemo(() => {
    const known = before.data?.pages[0]?.items ?? [];
    const ids = new Set(known.map(({ id }) => id));
    return [...live.filter(({ id }) => !ids.has(id)), ...known]
      .filter(({ name }) => name !== "Credited")
      .sort((a, b) => b.block - a.block || b.logIndex - a.logIndex)
      .slice(0, SHOWN_EVENTS);
  }, [live, before.data]);
  return (
    <section className="sheet" aria-labelledby="stream">
      <h2 id="stream">As it happens</h2>
      {before.data === undefined && live.length === 0 ? (
        <Loading lines={8} />
      ) : events.length === 0 ? (
        <Empty title="Nothing has happened yet">
          The first request appears here by itself:{" "}
          <code>assay request sentiment --text "Profit beats forecasts"</code>
        </Empty>
      ) : (
        <ol className="event-lines">
          {events.map((event) => (
            <EventLine key={event.id} event={event} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Outcomes({ data: { requests, claims, falls } }: { readonly data: OverviewData }) {
  const reasons = Object.entries(falls).filter(([, count]) => count > 0);
  return (
    <section className="sheet" aria-labelledby="outcomes">
      <h2 id="outcomes">How it went</h2>
      <dl className="figures">
        <Figure name={<Link to="/requests">requests</Link>} note={`${COUNT.format(requests.OPEN)} open`}>
          {COUNT.format(requests.OPEN + requests.BUSY + requests.DONE + requests.REFUNDED)}
        </Figure>
        <Figure name="final outputs" note={`${COUNT.format(requests.REFUNDED)} refunded`}>
          {COUNT.format(requests.DONE)}
        </Figure>
        <Figure name="claims that stood" note={`${COUNT.format(claims.ACTIVE)} in their window`}>
          {COUNT.format(claims.FINAL)}
        </Figure>
        <Figure
          name={
            <Link to="/claims" search={{ state: "FALLEN" }}>
              claims that fell
            </Link>
          }
          note={
            reasons.length === 0
              ? "none so far"
              : reasons.map(([reason, count]) => `${count} ${FALLS[reason as keyof typeof FALLS]}`).join(", ")
          }
        >
          {COUNT.format(claims.FALLEN)}
        </Figure>
      </dl>
    </section>
  );
}

function Finality({ data }: { readonly data: OverviewData }) {
  const { finalByLane, finalitySeconds, gasByLane } = data;
  return (
    <section className="sheet" aria-labelledby="finality">
      <h2 id="finality">
        From request to final output, by <Term word="lane">lane</Term>
      </h2>
      <div className="scroll">
        <table className="table">
          <thead>
            <tr>
              <th>lane</th>
              <th className="right">outputs</th>
              <th className="right">median</th>
              <th className="right">range</th>
              <th className="right">gas, mean</th>
            </tr>
          </thead>
          <tbody>
            {LANES.map((lane) => {
              const waits = finalitySeconds[lane];
              const gas = gasByLane[lane];
              return (
                <tr key={lane}>
                  <td>
                    <LaneMark lane={lane} />
                  </td>
                  <td className="right">{COUNT.format(finalByLane[lane])}</td>
                  <td className="right">{waits === null ? "–" : durationText(waits.median)}</td>
                  <td className="right">
                    {waits === null ? "–" : `${durationText(waits.least)} to ${durationText(waits.greatest)}`}
                  </td>
                  <td className="right">{gas === null ? "–" : COUNT.format(Math.round(gas.mean))}</td>
                </tr>
              );
            })}
            {isPromised(data) && (
              <tr>
                <td>
                  <span className="badge lane-batched">batched</span>
                </td>
                <td className="right">{COUNT.format(data.promises.leaves.final)}</td>
                <td className="right" colSpan={2}>
                  after the batch's window
                </td>
                <td className="right">
                  {data.promises.gasPerLeaf === null
                    ? "–"
                    : COUNT.format(Math.round(data.promises.gasPerLeaf.mean))}
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Deployment({
  data: { contracts, constants, chainId, deployedAt },
}: {
  readonly data: OverviewData;
}) {
  return (
    <details className="sheet">
      <summary>This deployment: chain {chainId}, contracts and constants</summary>
      <dl className="facts deployment">
        <dt>
          <Term word="answer time">answer time</Term>
        </dt>
        <dd>{durationText(constants.answerSeconds)}</dd>
        <dt>least gas price of a claim</dt>
        <dd>
          <Amount wei={constants.gasPriceFloor} />
        </dd>
        <dt>deployed at block</dt>
        <dd className="number">{COUNT.format(deployedAt.number)}</dd>
        {Object.entries(contracts).map(([name, address]) => (
          <ContractRow key={name} name={name} address={address} />
        ))}
      </dl>
    </details>
  );
}

const ContractRow = ({ name, address }: { readonly name: string; readonly address: string }) => (
  <>
    <dt>{name}</dt>
    <dd>
      <Id id={address} what={name} />
    </dd>
  </>
);
