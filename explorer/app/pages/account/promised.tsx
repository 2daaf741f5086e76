import { Link } from "@tanstack/react-router";
import type { Account } from "../../../api/types.ts";
import { Amount } from "../../parts/amount.tsx";
import { counted } from "../../parts/counted.ts";
import { Facts, Figure } from "../../parts/figure.tsx";
import { Term } from "../../parts/term.tsx";
import { Countdown } from "../../parts/time.tsx";

interface PromisedProps {
  readonly account: string;
  readonly promises: NonNullable<Account["promises"]>;
}

/** The account in Promises: its stake and what it is at work for, its credit, and its promises. */
export function Promised({ account, promises }: PromisedProps) {
  const { stake, split, credit, deposits, opened, waiting, batches, batchesFallen, leaves, signed } =
    promises;
  const isProver = batches + signed > 0 || stake !== "0";
  return (
    <section className="sheet stack" aria-labelledby="promises">
      <h2 id="promises">
        <Term word="promise">Promises</Term>
      </h2>
      <dl className="figures">
        {isProver && (
          <Figure name={<Term word="stake">stake</Term>} note="behind its promises">
            <Amount wei={stake} />
          </Figure>
        )}
        {isProver && split !== undefined && <Split split={split} waiting={waiting} />}
        <Figure name="credit in Promises" note="to withdraw; counted apart from Assay's">
          <Amount wei={credit} />
        </Figure>
      </dl>
      <Facts
        of={[
          !isProver
            ? undefined
            : [
                "posted",
                <Link key="b" to="/batches" search={{ prover: account }}>
                  {counted(leaves, "output")} in {counted(batches, "batch", "batches")}, {batchesFallen} fell
                </Link>,
              ],
          !isProver
            ? undefined
            : [
                "signed claims opened",
                <Link key="s" to="/signed-claims" search={{ prover: account }}>
                  {`${signed}: ${promises.signedFell} fell, ${waiting} ${waiting === 1 ? "waits" : "wait"}`}
                </Link>,
              ],
          opened === 0 ? undefined : ["promises of others that it opened", opened],
          deposits === "0" ? undefined : ["deposits on them", <Amount key="d" wei={deposits} />],
        ]}
      />
    </section>
  );
}

interface SplitProps {
  readonly split: NonNullable<PromisedProps["promises"]["split"]>;
  readonly waiting: number;
}

function Split({ split: { free, leaving, exitAt, away, slots }, waiting }: SplitProps) {
  return (
    <>
      <Figure name="free" note="backs what it signs">
        <Amount wei={free} />
      </Figure>
      <Figure name="at work" note="bonds in Assay, and slots of batches">
        <Amount wei={BigInt(away) + BigInt(slots)} />
      </Figure>
      {exitAt !== undefined && (
        <Figure
          name="leaving"
          note={
            waiting > 0 ? (
              "not while a signed claim waits"
            ) : (
              <Countdown until={exitAt} over="can be taken out" />
            )
          }
        >
          <Amount wei={leaving} />
        </Figure>
      )}
    </>
  );
}
