import { useCallback } from "react";
import type { Overview } from "../../../api/types.ts";
import { Amount } from "../../parts/amount.tsx";
import { Chart } from "../../parts/plot.tsx";
import { Term } from "../../parts/term.tsx";

const KINDS = [
  ["fees", "fees", "of requests that are not over, and of deliveries", "var(--lane-execution)"],
  ["bonds", "bonds", "of live claims", "var(--accent)"],
  ["tickets", "tickets", "of challengers, on live claims", "var(--wait)"],
  ["uncollected", "uncollected", "tickets and shares of fallen claims that nobody fetched", "var(--info)"],
  ["credits", "credits", "that their owners have not withdrawn", "var(--good)"],
  ["burned", "burned", "not sent away yet", "var(--bad)"],
] as const;

/** What the contract holds, by kind. */
export function Holdings({ data: { holds, flows } }: { readonly data: Overview }) {
  const isEmpty = BigInt(holds.total) === 0n;
  const bar = useCallback(
    (plot: typeof import("@observablehq/plot")) => ({
      height: 34,
      axis: null,
      margin: 0,
      x: { label: null },
      marks: [
        plot.barX(
          KINDS.map(([kind, name, , color]) => ({ name, color, ether: Number(holds[kind]) / 1e18 })),
          { x: "ether", fill: "color", insetRight: 1, rx: 2 },
        ),
      ],
    }),
    [holds],
  );
  return (
    <section className="sheet" aria-labelledby="holds">
      <h2 id="holds">
        The contract holds <Amount wei={holds.total} />
      </h2>
      {!isEmpty && <Chart label="What the contract holds, by kind" options={bar} />}
      <ul className="columns holdings">
        {KINDS.map(([kind, name, meaning, color]) => (
          <li key={kind}>
            <span className="swatch" style={{ background: color }} aria-hidden="true" />
            <span>
              <Amount wei={holds[kind]} /> {kind === "bonds" ? <Term word="bond">bonds</Term> : name}
              <span className="small soft block">{meaning}</span>
            </span>
          </li>
        ))}
      </ul>
      <p className="small soft">
        Ever received <Amount wei={flows.received} />, withdrawn <Amount wei={flows.withdrawn} />, burned{" "}
        <Amount wei={flows.burned} />.
      </p>
    </section>
  );
}
