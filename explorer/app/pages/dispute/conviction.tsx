import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Claim, Conviction as ConvictionData, Data, Dispute } from "../../../api/types.ts";
import { Facts } from "../../parts/figure.tsx";
import { Id } from "../../parts/id.tsx";
import { Tokens } from "../../parts/output.tsx";
import { Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { explainQuery } from "../../verify/client.ts";
import { DotArithmetic, Longhand, Operands, RowsArithmetic } from "./arithmetic.tsx";

/** A step without how its tensor lies in its tree. */
export const withoutShape = (text: string): string => text.replace(/ {2}\(.*\)$/, "");

const GAS = new Intl.NumberFormat("en");
type Fault = NonNullable<ConvictionData["fault"]>;
type ElementFault = Extract<Fault, { kind: "ELEMENT" }>;

interface ConvictionProps {
  readonly dispute: Dispute;
  readonly claim: Claim;
  readonly conviction: ConvictionData;
}

/** What the contract computed, written out, with its verdict beside it. */
export function Conviction({ claim, conviction }: ConvictionProps) {
  const { fault, undecoded } = conviction;
  return (
    <section className="sheet stack" aria-labelledby="conviction" id="conviction-sheet">
      <div>
        <h2 id="conviction" tabIndex={-1}>
          The <Term word="convict">conviction</Term>
        </h2>
        {fault?.kind === "ELEMENT" && (
          <p className="soft">
            One number of the trace, computed from numbers that both sides agree on: the words that the
            transaction opened. A pencil is enough.
          </p>
        )}
      </div>
      {fault === undefined ? (
        <p>It cannot be decoded here{undecoded === undefined ? "." : `: ${undecoded}`}</p>
      ) : fault.kind === "ELEMENT" ? (
        <OneElement fault={fault} claim={claim} conviction={conviction} />
      ) : (
        <OtherFault fault={fault} claimed={claim.output} />
      )}
      <p className="small soft row">
        <Link to="/transactions/$id" params={{ id: conviction.transaction }}>
          The transaction
        </Link>
        by <Id id={conviction.by} to="account" /> used {GAS.format(conviction.gasUsed)} gas.
      </p>
    </section>
  );
}

function OneElement({
  fault,
  claim,
  conviction,
}: {
  readonly fault: ElementFault;
  readonly claim: Claim;
  readonly conviction: ConvictionData;
}) {
  const { step, element, coordinates, arithmetic, expected, claimed } = fault;
  const own = useQuery({
    ...explainQuery(claim, step.index, element),
    enabled: !claim.input.isCut,
  });
  const ownValue = own.data?.value;
  return (
    <>
      <Facts
        of={[
          ["step", <code key="s">{withoutShape(step.text)}</code>],
          ["element", `${element}, at [${coordinates.join(", ")}]`],
        ]}
      />
      <div className="conviction">
        <div className="stack">
          {arithmetic.kind === "dot" ? (
            <DotArithmetic dot={arithmetic} type={step.type} />
          ) : arithmetic.kind === "rows" ? (
            <RowsArithmetic rows={arithmetic} />
          ) : arithmetic.kind === "channel" ? (
            <Longhand
              lines={[
                ["input", arithmetic.input],
                ["bias", arithmetic.parameters.bias, "+"],
              ]}
              of={arithmetic}
              type={step.type}
            />
          ) : (
            <Operands fault={fault} formula={own.data?.formula} />
          )}
        </div>
        <aside className="verdict" aria-label="The verdict">
          <dl>
            <dt>the contract computed</dt>
            <dd className="verdict-right">{expected ?? "no finite number"}</dd>
            <dt>the claim's trace says</dt>
            <dd className="verdict-wrong">{claimed ?? "no finite number"}</dd>
            <dt>this browser computed, from the model and the input alone</dt>
            <dd className="verdict-own">
              {own.data === undefined && own.error === null && !claim.input.isCut ? (
                <Loading lines={1} />
              ) : ownValue === undefined ? (
                <span className="small">
                  could not: {own.error?.message ?? "this step is computed whole"}
                </span>
              ) : (
                <>
                  {ownValue}{" "}
                  <span className={`badge tone-${ownValue === expected ? "good" : "bad"}`}>
                    {ownValue === expected ? "as the contract" : "other than the contract"}
                  </span>
                </>
              )}
            </dd>
          </dl>
          <p className="small soft">
            The event <code>Fell</code> holds the stored bytes {conviction.verdict.expected} and{" "}
            {conviction.verdict.claimed}.
          </p>
        </aside>
      </div>
    </>
  );
}

function OtherFault({
  fault,
  claimed: { tokens },
}: {
  readonly fault: Exclude<Fault, ElementFault>;
  readonly claimed: Data;
}) {
  switch (fault.kind) {
    case "CODEC":
      return (
        <Facts
          of={[
            ["step", <code key="s">{fault.step.text}</code>],
            ["what", "The contract made the tensor of the bytes themselves: its root is another one."],
            ["right root", <Id key="e" id={fault.expectedRoot} what="root" />],
            ["claimed root", <Id key="c" id={fault.claimedRoot} what="root" />],
          ]}
        />
      );
    case "OUTPUT":
      return (
        <Facts
          of={[
            ["what", "The trace is honest, and the claimed output is not what its last tensor encodes to."],
            ["element", fault.element],
            ["the trace says", <code key="e">{fault.expected}</code>],
            [
              "the claim says",
              <code key="c" className="wrong">
                {fault.claimed}
              </code>,
            ],
            ...(tokens === undefined
              ? []
              : [
                  [
                    "the claimed answer",
                    <Tokens key="t" of={tokens} wrong={Number(fault.element)} />,
                  ] as const,
                ]),
          ]}
        />
      );
    case "TRUTH":
      return (
        <Facts
          of={[
            ["what", `The chain learned the right output by the lane ${fault.lane.toLowerCase()}.`],
            ["right output", <code key="e">{fault.output}</code>],
            [
              "claimed output",
              <code key="c" className="wrong">
                {fault.claimedOutput}
              </code>,
            ],
          ]}
        />
      );
    default:
      return (
        <p>
          The prover was silent:{" "}
          {fault.kind === "TRACE_TIMEOUT" ? "no trace was committed" : "a demand was not answered"} within the{" "}
          <Term word="answer time">answer time</Term>. Whoever cannot show the work loses.
        </p>
      );
  }
}
