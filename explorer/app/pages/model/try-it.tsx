import { useMutation } from "@tanstack/react-query";
import { Tabs } from "radix-ui";
import { type FormEvent, useState } from "react";
import type { Inference, Model } from "../../../api/types.ts";
import { postJson } from "../../data/api.ts";
import { DataSheet } from "../../parts/output.tsx";
import { Failure } from "../../parts/states.tsx";
import { codeFor, LANGUAGES } from "./code.ts";
import { Fields } from "./fields.tsx";
import { type Draft, draftOf, readDraft } from "./inputs.ts";

const GAS = new Intl.NumberFormat("en");

/** Asks the chain to run the model, by one call that costs nothing. */
export function TryIt({ model }: { readonly model: Model }) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(model));
  const ask = useMutation({
    mutationFn: async (current: Draft) => {
      const { encodeDraft } = await import("./encode.ts");
      const input = encodeDraft(model, readDraft(model, current));
      return postJson<Inference>(`/v1/models/${model.modelId}/infer`, { input });
    },
  });
  const canRun = model.lanes.includes("EXECUTION") && model.isPublished;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask.mutate(draft);
  };
  return (
    <section className="sheet stack" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      <div className="columns" style={{ "--column": "22rem" } as React.CSSProperties}>
        <form className="stack" onSubmit={submit}>
          <Fields model={model} draft={draft} onChange={setDraft} />
          {canRun ? (
            <div className="row">
              <button type="submit" className="button first" disabled={ask.isPending}>
                {ask.isPending ? "The chain runs it…" : "Run it on the chain"}
              </button>
              <span className="small soft">one eth_call: costs nothing, changes nothing</span>
            </div>
          ) : (
            <p className="small soft">
              {model.lanes.includes("EXECUTION")
                ? "Nobody has published the weights of this model: the chain cannot run it yet."
                : "The chain cannot run this model; ask a prover by a request."}{" "}
              The code shows how.
            </p>
          )}
        </form>
        <div aria-live="polite" className="stack near">
          {ask.error !== null && <Failure error={ask.error} />}
          {ask.data !== undefined && (
            <>
              <DataSheet data={ask.data.output} />
              <p className="small soft">
                Run at block {GAS.format(ask.data.block)} in {ask.data.seconds.toFixed(2)} s. This is one
                node's word: a contract that calls the same in its transaction has the chain's.
              </p>
            </>
          )}
          {ask.data === undefined && ask.error === null && (
            <p className="soft blank">The answer appears here, in words and numbers.</p>
          )}
        </div>
      </div>
      <Code model={model} draft={draft} />
    </section>
  );
}

function Code({ model, draft }: { readonly model: Model; readonly draft: Draft }) {
  return (
    <details>
      <summary>The same from your code</summary>
      <Tabs.Root defaultValue={LANGUAGES[0]}>
        <Tabs.List className="tabs" aria-label="Languages">
          {LANGUAGES.map((language) => (
            <Tabs.Trigger key={language} className="tab" value={language}>
              {language}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {LANGUAGES.map((language) => (
          <Tabs.Content key={language} value={language}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
            <pre className="code" tabIndex={0}>
              {codeFor(language, model, draft)}
            </pre>
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </details>
  );
}
