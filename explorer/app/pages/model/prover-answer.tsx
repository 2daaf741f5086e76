import type { Asked } from "../../../api/types.ts";
import { Facts } from "../../parts/figure.tsx";
import { Id } from "../../parts/id.tsx";
import { DataSheet } from "../../parts/output.tsx";
import { Outside } from "../../parts/outside.tsx";

const AMOUNT = new Intl.NumberFormat("en");
/** What each status is worth. */
const STATUSES = {
  unverified: ["tone-wait", "unverified", "One prover's word: it has bonded nothing on it."],
  pending: ["tone-info", "pending", "A claim with a bond stands behind it, and can still be disputed."],
  final: ["tone-good", "final", "Nobody can change it any more, as the prover says: its request shows it."],
} as const;

/** What a prover said: its output with its status, or what a final one costs. */
export function ProverAnswer({ asked }: { readonly asked: Asked }) {
  const { status, output, price, prover, seconds, requestId, claimId } = asked;
  if (price !== undefined) {
    return (
      <div className="notice tone-info stack near">
        <strong>A final output costs</strong>
        <p>
          {prover} answers with a final output for this price, by x402: it is taken when the output is final,
          and not before. This page pays nothing; the code below and{" "}
          <span className="mono">assay request</span> ask without it.
        </p>
        <Facts
          of={[
            ["price", `${AMOUNT.format(BigInt(price.price))} units of the token`],
            ["token", <Id key="t" id={price.asset} what="token" />],
            ["network", <Outside key="n" text={price.network} />],
            ["paid to", <Id key="p" id={price.payTo} to="account" />],
          ]}
        />
      </div>
    );
  }
  const [tone, name, meaning] = STATUSES[status === "priced" ? "unverified" : status];
  return (
    <div className="stack near">
      <p className="row">
        <span className={`badge ${tone}`}>{name}</span>
        <span className="small soft">{meaning}</span>
      </p>
      {output !== undefined && <DataSheet data={output} />}
      <p className="small soft row">
        <span>
          Answered by {prover} in {seconds.toFixed(2)} s.
        </span>
        {requestId !== undefined && (
          <span>
            request <Id id={requestId} to="request" />
          </span>
        )}
        {claimId !== undefined && (
          <span>
            claim <Id id={claimId} to="claim" />
          </span>
        )}
      </p>
    </div>
  );
}
