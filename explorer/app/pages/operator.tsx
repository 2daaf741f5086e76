import { useQuery } from "@tanstack/react-query";
import type { Operator as OperatorData } from "../../api/types.ts";
import { operatorQuery } from "../data/queries.ts";
import { Amount } from "../parts/amount.tsx";
import { Facts } from "../parts/figure.tsx";
import { Id, shortenIds } from "../parts/id.tsx";
import { Outside } from "../parts/outside.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { durationText } from "../parts/time.tsx";
import { PageTitle } from "../parts/title.tsx";
import { Clocks } from "./operator/clocks.tsx";

type Daemon = OperatorData["daemons"][number];
type Alert = OperatorData["alerts"][number];

const COUNT = new Intl.NumberFormat("en");

/** How the operator's own daemons are, and what to do now. */
export function Operator() {
  const found = useQuery(operatorQuery);
  return (
    <div className="stack">
      <PageTitle name="Operator">Your daemons</PageTitle>
      <Answered of={found}>
        {({ daemons, alerts, clocks }) =>
          daemons.length === 0 ? (
            <Nobody />
          ) : (
            <>
              <section className="sheet stack near" aria-labelledby="now">
                <h2 id="now">What to do now</h2>
                <Now daemons={daemons} alerts={alerts} />
              </section>
              <section className="stack near" aria-labelledby="daemons">
                <h2 id="daemons">Daemons</h2>
                <div className="columns" style={{ "--column": "18rem" } as React.CSSProperties}>
                  {daemons.map((daemon) => (
                    <DaemonSheet key={daemon.instance} daemon={daemon} />
                  ))}
                </div>
              </section>
              <section className="sheet" aria-labelledby="clocks">
                <h2 id="clocks">Clocks of your claims and tickets</h2>
                <Clocks clocks={clocks} />
              </section>
            </>
          )
        }
      </Answered>
    </div>
  );
}

function Nobody() {
  return (
    <section className="sheet stack near">
      <Empty title="This explorer watches no daemon">
        Start it with the addresses at which your provers and challengers serve their metrics:
      </Empty>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <pre className="code" tabIndex={0}>
        assay explorer --watch http://127.0.0.1:8787,http://127.0.0.1:9100
      </pre>
    </section>
  );
}

function Now({
  daemons,
  alerts,
}: {
  readonly daemons: readonly Daemon[];
  readonly alerts: readonly Alert[];
}) {
  const silent = daemons.filter(({ isUp }) => !isUp).length;
  if (alerts.length > 0) {
    return (
      <ul className="stack near" aria-live="polite">
        {alerts.map((alert) => (
          <AlertLine key={`${alert.rule} ${alert.instance} ${alert.text}`} alert={alert} />
        ))}
      </ul>
    );
  }
  return silent > 0 ? (
    <p className="notice tone-wait">
      <strong>
        {silent} of {daemons.length} daemons {silent === 1 ? "does" : "do"} not answer
      </strong>
      <span>If that lasts for two minutes it is an alert: see whether somebody starts it again.</span>
    </p>
  ) : (
    <p className="notice tone-good">
      <strong>Nothing</strong>
      <span>Every daemon answers, and no alert holds.</span>
    </p>
  );
}

function AlertLine({ alert }: { readonly alert: Alert }) {
  const { severity, text, next, command, claim, rule, forSeconds, failure } = alert;
  return (
    <li className={`notice ${severity === "critical" ? "tone-bad" : "tone-wait"}`}>
      <strong>
        <Outside text={shortenIds(text)} />
      </strong>
      <p>
        {next} {claim !== undefined && <Id id={claim} to="claim" />}
      </p>
      {command !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
        <pre className="code" tabIndex={0}>
          <Outside text={command} />
        </pre>
      )}
      <p className="small soft">
        {severity}, {rule}, for {durationText(forSeconds)}; more in <span className="mono">{failure}</span>
      </p>
    </li>
  );
}

function DaemonSheet({ daemon }: { readonly daemon: Daemon }) {
  const { instance, role, isUp, account, balance, exposure, silentSeconds } = daemon;
  return (
    <article className="sheet stack near" aria-label={`${role ?? "daemon"} at ${instance}`}>
      <header className="row spread">
        <h3>
          {role ?? "daemon"} <span className="soft mono small">{instance}</span>
        </h3>
        <State daemon={daemon} />
      </header>
      {!isUp && (
        <p className="small soft">
          {silentSeconds === undefined
            ? "It has not answered since this explorer began."
            : `Below is what it said ${durationText(silentSeconds)} ago.`}
        </p>
      )}
      <Facts
        of={[
          account === undefined ? undefined : ["account", <Id key="a" id={account} to="account" />],
          balance === undefined ? undefined : ["balance", <Amount key="b" wei={balance} />],
          exposure === undefined
            ? undefined
            : [
                role === "challenger" ? (
                  <Term key="t" word="ticket">
                    tickets at stake
                  </Term>
                ) : (
                  <Term key="t" word="bond">
                    bonds at stake
                  </Term>
                ),
                <Amount key="e" wei={exposure} />,
              ],
          counted("own claims", daemon.claimsActive),
          counted(role === "challenger" ? "wrong claims" : "disputed", daemon.claimsDisputed),
          counted("claims to check", daemon.claimsUnchecked),
          counted("blocks behind", daemon.blocksBehind),
        ]}
      />
    </article>
  );
}

const counted = (name: string, count: number | undefined) =>
  count === undefined ? undefined : ([name, COUNT.format(count)] as const);

function State({ daemon: { isUp, isNodeUp, isElsewhere, status } }: { readonly daemon: Daemon }) {
  const [tone, text] = !isUp
    ? ["bad", "does not answer"]
    : isElsewhere
      ? ["wait", "other deployment"]
      : isNodeUp === false
        ? ["bad", "its node is silent"]
        : status !== undefined && status !== "ok"
          ? ["wait", status]
          : ["good", "well"];
  return (
    <span className={`badge tone-${tone}`}>
      <Outside text={text as string} />
    </span>
  );
}
