import { useMutation } from "@tanstack/react-query";
import { save } from "../../data/save.ts";
import { archiveOf } from "../../import/client.ts";
import type { ImportedStep, ModelSheet } from "../../import/forms.ts";
import { Facts, Figure } from "../../parts/figure.tsx";
import { Id } from "../../parts/id.tsx";
import { Outside } from "../../parts/outside.tsx";
import { Failure } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { Steps } from "../program/steps.tsx";

const GROUPS = new Intl.NumberFormat("en");
const bytes = (count: number): string => `${GROUPS.format(count)} bytes`;

/** What the file became: sizes, what was decided on the way, and its folder to keep. */
export function Summary({ model }: { readonly model: ModelSheet }) {
  const { steps, weightBytes, depth, codec, modelId, seconds, inputs, outputs } = model;
  const named = (list: ModelSheet["inputs"]) => (
    <Outside text={list.map(({ name, type, dims }) => `${name}: ${type}[${dims.join(", ")}]`).join("; ")} />
  );
  return (
    <section className="sheet stack" aria-labelledby="imported" data-model={modelId}>
      <h2 id="imported">It is a model</h2>
      <dl className="figures">
        <Figure name="steps" note={`imported in ${seconds.toFixed(1)} s`}>
          {steps.length}
        </Figure>
        <Figure name="weights" note="bytes">
          {GROUPS.format(weightBytes)}
        </Figure>
        <Figure name={<Term word="demand">demands</Term>} note="of the longest dispute">
          {depth}
        </Figure>
      </dl>
      <Facts
        of={[
          [
            <Term key="id" word="model">
              model id
            </Term>,
            <Id key="value" id={modelId} what="model id" />,
          ],
          ["called", <Outside key="name" text={model.name} />],
          ["input", named(inputs)],
          ["output", named(outputs)],
          [
            <Term key="codec" word="codec">
              codec
            </Term>,
            `${codec.input} (${codec.inputSize}) to ${codec.output}`,
          ],
        ]}
      />
      <Decisions model={model} />
      <Folder model={model} />
    </section>
  );
}

/** What the importer decided where a file leaves a choice. */
function Decisions({ model: { notes, requantizations, trees } }: { readonly model: ModelSheet }) {
  const nudges = requantizations.reduce((sum, one) => sum + one.nudges.length, 0);
  const real = requantizations.filter(({ form }) => form === "binary32");
  const texts = [
    ...notes,
    ...(real.length === 0
      ? []
      : [
          `${real.length} of ${requantizations.length} requantizations have no integer form in some channels and are computed in binary32, which costs more gas: ${real.map(({ node }) => node).join(", ")}. Nudging may give them one.`,
        ]),
    ...(nudges === 0 ? [] : [`${nudges} scales were moved by nudging.`]),
    ...trees.map(
      (tree) =>
        `trees ${tree.node}: ${tree.trees} with ${tree.leaves} leaves, in units of 2^${-tree.scaleBits}`,
    ),
  ];
  if (texts.length === 0) return null;
  return (
    <ul className="notes small">
      {texts.map((text, i) => (
        <li key={i}>
          <Outside text={text} />
        </li>
      ))}
    </ul>
  );
}

function Folder({ model: { files, modelId } }: { readonly model: ModelSheet }) {
  const saving = useMutation({
    mutationFn: async () =>
      save(`model-${modelId.slice(2, 10)}.zip`, (await archiveOf()) as Uint8Array<ArrayBuffer>),
  });
  return (
    <>
      <p className="row">
        <button type="button" className="button" disabled={saving.isPending} onClick={() => saving.mutate()}>
          {saving.isPending ? "Packing…" : "Download the model's folder"}
        </button>
        <span className="small soft">
          the files that <code>assay model import</code> writes:{" "}
          {files.map(({ name, bytes: size }) => `${name} (${bytes(size)})`).join(", ")}
        </span>
      </p>
      {saving.error !== null && <Failure error={saving.error} />}
    </>
  );
}

/** The program, each step with its node in the file. */
export const ProgramSheet = ({ steps }: { readonly steps: readonly ImportedStep[] }) => (
  <section className="stack" aria-labelledby="program">
    <h2 id="program">
      The <Term word="program">program</Term>
    </h2>
    <Steps steps={steps}>
      {({ node }) => (
        <p className="small">
          {node === "" ? (
            <span className="soft">It comes from no node of the file.</span>
          ) : (
            <>
              From the node{" "}
              <span className="mono">
                <Outside text={node} />
              </span>{" "}
              of the file.
            </>
          )}
        </p>
      )}
    </Steps>
  </section>
);
