import { Link } from "@tanstack/react-router";
import type { Overview } from "../../../api/types.ts";
import { Amount } from "../../parts/amount.tsx";
import { counted } from "../../parts/counted.ts";
import { Figure } from "../../parts/figure.tsx";
import { Term } from "../../parts/term.tsx";

const COUNT = new Intl.NumberFormat("en");

type PromisedOverview = Overview & { readonly promises: NonNullable<Overview["promises"]> };

/** Whether anybody promised anything yet, or put stake behind it. */
export function isPromised(data: Overview): data is PromisedOverview {
  const { promises } = data;
  if (promises === undefined) return false;
  return promises.stake !== "0" || promises.leaves.posted + promises.signed.opened > 0;
}

/** What was promised, and what stands behind it. */
export function Promised({ promises }: Pick<PromisedOverview, "promises">) {
  const { batches, leaves, signed, stake, deposits, credits, burned } = promises;
  return (
    <section className="sheet" aria-labelledby="promised">
      <h2 id="promised">
        <Term word="promise">Promises</Term> have <Amount wei={stake} /> behind them
      </h2>
      <dl className="figures">
        <Figure
          name={<Link to="/batches">outputs in batches</Link>}
          note={`${counted(batches.posted, "batch", "batches")}, ${COUNT.format(batches.fallen)} fell`}
        >
          {COUNT.format(leaves.posted)}
        </Figure>
        <Figure
          name={<Link to="/signed-claims">signed claims opened</Link>}
          note={`${COUNT.format(signed.fell)} fell; the others are on no chain`}
        >
          {COUNT.format(signed.opened)}
        </Figure>
      </dl>
      <p className="small soft">
        Besides <Amount wei={deposits} /> in deposits on promises that are open, <Amount wei={credits} /> in
        credits, and <Amount wei={burned} /> burned and not sent away yet. The stake includes bonds that are
        in Assay for promises that became claims.
      </p>
    </section>
  );
}
