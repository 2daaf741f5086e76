import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Account as AccountData, ClaimsQuery } from "../../api/types.ts";
import { accountQuery, claimsQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { FALLS } from "../parts/badges.tsx";
import { Facts, Figure } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { Listing } from "../parts/listing.tsx";
import { Chart } from "../parts/plot.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { Time } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";
import { Promised } from "./account/promised.tsx";
import { CLAIM_COLUMNS } from "./claims.tsx";

export function Account() {
  const { id } = useParams({ from: "/accounts/$id" });
  return (
    <div className="stack">
      <PageTitle name={`Account ${shortId(id)}`}>
        Account <Id id={id} what="address" />
      </PageTitle>
      <Answered of={useQuery(accountQuery(id))}>{(account) => <Known account={account} />}</Answered>
    </div>
  );
}

function Known({ account }: { readonly account: AccountData }) {
  const { roles, result, exposure, credit, balance, record, lastSeenAt } = account;
  return (
    <>
      <section className="sheet">
        <dl className="figures">
          <Figure name="profit or loss" note="transaction fees included">
            <Amount wei={result} sign />
          </Figure>
          <Figure name="at stake now" note="bonds of live claims and tickets">
            <Amount wei={exposure} />
          </Figure>
          <Figure name="credit" note="to withdraw">
            <Amount wei={credit} />
          </Figure>
          <Figure name="balance" note="outside of the contract">
            {balance === undefined ? "–" : <Amount wei={balance} />}
          </Figure>
        </dl>
      </section>
      <ResultByDay account={account} />
      <div className="columns">
        <section className="sheet" aria-labelledby="record">
          <h2 id="record">Record</h2>
          <Facts
            of={[
              ["roles", roles.join(", ") || "–"],
              ["requests made", record.requests],
              [
                <Term key="c" word="claim">
                  claims
                </Term>,
                `${record.claims}: ${record.finalClaims} stood, ${record.fallenClaims} fell, ${record.liveClaims} live`,
              ],
              ...Object.entries(record.falls).map(
                ([reason, count]) => [`fell: ${FALLS[reason as keyof typeof FALLS]}`, count] as const,
              ),
              [
                <Term key="t" word="ticket">
                  tickets
                </Term>,
                `${record.tickets}: ${record.ticketsWon} won, ${record.ticketsLost} lost, ${record.ticketsLive} live`,
              ],
              ["requests settled by a truth", record.settled],
              ["seen last", <Time key="s" at={lastSeenAt} />],
            ]}
          />
        </section>
        <Money account={account} />
      </div>
      {account.promises !== undefined && <Promised account={account.account} promises={account.promises} />}
      <OwnClaims account={account} />
    </>
  );
}

function Money({ account: { money } }: { readonly account: AccountData }) {
  const rows = [
    ["paid in, ever", money.paidIn],
    ["credited, ever", money.credited],
    ["withdrawn", money.withdrawn],
    ["fees paid for outputs", money.paidFees],
    ["fees held for open requests", money.feesHeld],
    ["bonds held", money.bondsHeld],
    ["tickets held", money.ticketsHeld],
    ["uncollected shares", money.uncollected],
    ["transaction fees", money.transactionFees],
  ] as const;
  return (
    <section className="sheet" aria-labelledby="money">
      <h2 id="money">Money</h2>
      <Facts of={rows.map(([name, wei]) => [name, <Amount key={name} wei={wei} />])} />
    </section>
  );
}

function ResultByDay({ account: { days } }: { readonly account: AccountData }) {
  const total = useCallback(
    (plot: typeof import("@observablehq/plot")) => ({
      height: 200,
      marginLeft: 64,
      x: { type: "utc" as const, label: null },
      y: { label: "ETH", grid: true },
      marks: [
        plot.ruleY([0]),
        plot.lineY(
          days.map(({ day, total }) => ({ day: new Date(1_000 * day), ether: Number(total) / 1e18 })),
          { x: "day", y: "ether", stroke: "var(--accent)", strokeWidth: 2, marker: true },
        ),
      ],
    }),
    [days],
  );
  if (days.length < 2) return null;
  return (
    <section className="sheet" aria-labelledby="over-time">
      <h2 id="over-time">Profit and loss over time</h2>
      <Chart label="Sum of profits and losses up to each day" options={total} />
    </section>
  );
}

function OwnClaims({ account: { account, record } }: { readonly account: AccountData }) {
  const asProver = record.claims > 0;
  const query: ClaimsQuery = asProver ? { prover: account } : { challenger: account };
  const found = useInfiniteQuery({ ...claimsQuery(query), enabled: asProver || record.tickets > 0 });
  if (!asProver && record.tickets === 0) return null;
  return (
    <section className="stack near" aria-labelledby="claims">
      <h2 id="claims">{asProver ? "Its claims" : "Claims that it challenged"}</h2>
      <Listing
        of={found}
        columns={CLAIM_COLUMNS}
        idOf={({ claimId }) => claimId}
        label="Claims"
        empty={<Empty title="None" />}
      />
    </section>
  );
}
