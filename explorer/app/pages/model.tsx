import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Tabs } from "radix-ui";
import type { Model as ModelData } from "../../api/types.ts";
import { modelQuery } from "../data/queries.ts";
import { source } from "../data/source.ts";
import { Amount } from "../parts/amount.tsx";
import { LaneMark } from "../parts/badges.tsx";
import { counted } from "../parts/counted.ts";
import { Facts } from "../parts/figure.tsx";
import { Id, shortId } from "../parts/id.tsx";
import { Outside } from "../parts/outside.tsx";
import { Answered } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { durationText, Time } from "../parts/time.tsx";
import { IdTitle, PageTitle } from "../parts/title.tsx";
import { Evaluation } from "./model/evaluation.tsx";
import { TryIt } from "./model/try-it.tsx";

const COUNT = new Intl.NumberFormat("en");

export function Model() {
  const { id } = useParams({ from: "/models/$id" });
  const found = useQuery(modelQuery(id));
  return (
    <div className="stack">
      {found.data === undefined && <IdTitle kind="Model" id={id} />}
      <Answered of={found}>{(model) => <Known model={model} />}</Answered>
    </div>
  );
}

function Known({ model }: { readonly model: ModelData }) {
  const { modelId, name, description, card, evaluation } = model;
  return (
    <>
      <PageTitle name={name ?? `Model ${shortId(modelId)}`}>
        {name === undefined ? (
          <>
            Model <span className="mono">{shortId(modelId)}</span>
          </>
        ) : (
          <Outside text={name} />
        )}
      </PageTitle>
      {description !== undefined && (
        <p className="lead">
          <Outside text={description} />
        </p>
      )}
      <TryIt model={model} />
      <Lanes model={model} />
      {evaluation !== undefined && <Evaluation of={evaluation} />}
      <div className="columns">
        <section className="sheet" aria-labelledby="what">
          <h2 id="what">What is registered</h2>
          <Registered model={model} />
        </section>
        <Keepers model={model} />
      </div>
      {card !== undefined && (
        <details className="sheet">
          <summary>The model's own card, as its author wrote it</summary>
          <pre className="card-text">
            <Outside text={card} />
          </pre>
        </details>
      )}
    </>
  );
}

function Lanes({
  model: { use, executionGas, bond, keyOrigin, isPublished, isProofHalted, lanes },
}: {
  readonly model: ModelData;
}) {
  return (
    <section className="sheet" aria-labelledby="lanes">
      <h2 id="lanes">
        <Term word="lane">Lanes</Term>, measured on this deployment
      </h2>
      <div className="scroll">
        <table className="table">
          <thead>
            <tr>
              <th>lane</th>
              <th className="right">final outputs</th>
              <th className="right">request to final, median</th>
              <th className="right">gas, mean</th>
              <th>note</th>
            </tr>
          </thead>
          <tbody>
            {use.map(({ lane, final, seconds, gas }) => (
              <tr key={lane}>
                <td>
                  <LaneMark lane={lane} />
                </td>
                <td className="right">{COUNT.format(final)}</td>
                <td className="right">{seconds === null ? "–" : durationText(seconds.median)}</td>
                <td className="right">{gas === null ? "–" : COUNT.format(Math.round(gas.mean))}</td>
                <td className="small">
                  {lane === "EXECUTION" &&
                    (isPublished === true
                      ? executionGas === undefined
                        ? "weights are on the chain"
                        : `some ${COUNT.format(BigInt(executionGas))} gas for one run`
                      : "nobody has published the weights yet")}
                  {lane === "PROOF" && (
                    <>
                      {keyOrigin === "development" && (
                        <span className="badge tone-wait">development key: anybody can forge with it</span>
                      )}
                      {isProofHalted && <span className="badge tone-bad">halted for good</span>}
                    </>
                  )}
                  {lane === "BOND" && bond !== undefined && (
                    <>
                      bond <Amount wei={bond.bond} />, <Term word="ticket">ticket</Term>{" "}
                      <Amount wei={bond.ticketBond} />
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {lanes.length === 0 && <p className="soft">No lane is open.</p>}
    </section>
  );
}

function Registered({ model }: { readonly model: ModelData }) {
  const { modelId, registeredAt, selector, steps, weightTensors, depth, maxCalldata, outputLength } = model;
  const bytes = model.files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <Facts
      of={[
        ["id", <Id key="i" id={modelId} what="model id" />],
        ["registered", <Time key="t" at={registeredAt.time} />],
        ["codecs", `${model.inputCodec} → ${model.outputCodec}`],
        ["selector", <code key="s">{selector}</code>],
        [
          <Term key="p" word="program">
            program
          </Term>,
          steps === 0
            ? "none: only a proof says what it computes"
            : `${COUNT.format(steps)} steps, ${COUNT.format(weightTensors)} weight tensors`,
        ],
        [
          <Term key="d" word="d">
            demands on a path, at most
          </Term>,
          depth,
        ],
        ["calldata, at most", `${COUNT.format(maxCalldata)} bytes`],
        ["return data", `${COUNT.format(outputLength)} bytes`],
        model.weightsRoot === undefined
          ? undefined
          : ["weights root", <Id key="w" id={model.weightsRoot} what="root" />],
        model.files.length === 0
          ? undefined
          : [
              "files",
              <span key="f">
                {model.files.map((file) => (
                  <span key={file.name} className="block">
                    <a href={source().fileUrl(modelId, file.name)} download>
                      <Outside text={file.name} />
                    </a>{" "}
                    <span className="small soft">{COUNT.format(file.bytes)} bytes</span>
                  </span>
                ))}
                <span className="small soft">{COUNT.format(bytes)} bytes in all</span>
              </span>,
            ],
      ]}
    />
  );
}

function Keepers({ model: { modelId, provers, challengers } }: { readonly model: ModelData }) {
  return (
    <section className="sheet" aria-labelledby="keepers">
      <h2 id="keepers">Who serves and watches it</h2>
      <Tabs.Root defaultValue="provers">
        <Tabs.List className="tabs" aria-label="Provers and challengers">
          <Tabs.Trigger className="tab" value="provers">
            Provers ({provers.length})
          </Tabs.Trigger>
          <Tabs.Trigger className="tab" value="challengers">
            Challengers ({challengers.length})
          </Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="provers">
          {provers.length === 0 ? (
            <p className="soft">Nobody has claimed an output of it yet.</p>
          ) : (
            <ul className="stack near">
              {provers.map(({ account, claims, falls, lastClaimAt }) => (
                <li key={account} className="row">
                  <Id id={account} to="account" />
                  <span>
                    {counted(claims, "claim")}
                    {falls > 0 && <span className="paid">, {falls} fell</span>}
                  </span>
                  <span className="small soft">
                    last <Time at={lastClaimAt} plain />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Tabs.Content>
        <Tabs.Content value="challengers">
          {challengers.length === 0 ? (
            <p className="soft">
              Nobody has challenged a claim of it. Whoever watches it is not seen until then.
            </p>
          ) : (
            <ul className="stack near">
              {challengers.map(({ account, tickets, lastTicketAt }) => (
                <li key={account} className="row">
                  <Id id={account} to="account" />
                  <span>{counted(tickets, "ticket")}</span>
                  <span className="small soft">
                    last <Time at={lastTicketAt} plain />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Tabs.Content>
      </Tabs.Root>
      <p className="small">
        <Link to="/claims" search={{ model: modelId }}>
          All claims of it
        </Link>
      </p>
    </section>
  );
}
