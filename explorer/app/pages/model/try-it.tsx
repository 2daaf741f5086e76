import { useMutation } from "@tanstack/react-query";
import { Tabs } from "radix-ui";
import { type FormEvent, useState } from "react";
import type { Asked, Inference, Model } from "../../../api/types.ts";
import { postJson } from "../../data/api.ts";
import { source } from "../../data/source.ts";
import { DataSheet } from "../../parts/output.tsx";
import { Failure } from "../../parts/states.tsx";
import { AskProver, type Wish } from "./ask-prover.tsx";
import { codeFor, languages } from "./code.ts";
import { Fields } from "./fields.tsx";
import { type Draft, draftOf, readDraft } from "./inputs.ts";
import { ProverAnswer } from "./prover-answer.tsx";

const GAS = new Intl.NumberFormat("en");

/** Of the chain, or of a prover. */
interface Answer {
  readonly inference?: Inference;
  readonly asked?: Asked;
}

/** @throws Error naming the field that cannot be used */
async function inputOf(model: Model, draft: Draft): Promise<string> {
  const { encodeDraft } = await import("./encode.ts");
  return encodeDraft(model, readDraft(model, draft));
}

/** Has the chain run the model, by one call that costs nothing, or a prover that the explorer knows. */
export function TryIt({ model }: { readonly model: Model }) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(model));
  const [chosen, setWish] = useState<Wish>({ prover: "", finality: "any" });
  const [first = ""] = model.askable;
  const wish = model.askable.includes(chosen.prover) ? chosen : { ...chosen, prover: first };
  const path = `/v1/models/${model.modelId}`;
  const ask = useMutation({
    mutationFn: async (of: "chain" | "prover"): Promise<Answer> => {
      const input = await inputOf(model, draft);
      return of === "chain"
        ? { inference: await postJson<Inference>(`${path}/infer`, { input }) }
        : { asked: await postJson<Asked>(`${path}/ask`, { ...wish, input }) };
    },
  });
  const { data: { inference, asked } = {}, error } = ask;
  const isRunning = (of: "chain" | "prover") => ask.isPending && ask.variables === of;
  const canRun = model.lanes.includes("EXECUTION") && model.isPublished;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask.mutate("chain");
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
                {isRunning("chain") ? "The chain runs it…" : "Run it on the chain"}
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
          {model.askable.length > 0 && (
            <AskProver
              model={model}
              wish={wish}
              isPending={isRunning("prover")}
              onChange={setWish}
              onAsk={() => ask.mutate("prover")}
            />
          )}
        </form>
        <div aria-live="polite" className="stack near">
          {error !== null && <Failure error={error} />}
          {asked !== undefined && <ProverAnswer asked={asked} />}
          {inference !== undefined && (
            <>
              <DataSheet data={inference.output} />
              <p className="small soft">
                Run at block {GAS.format(inference.block)} in {inference.seconds.toFixed(2)} s. This is one
                node's word: a contract that calls the same in its transaction has the chain's.
              </p>
            </>
          )}
          {ask.data === undefined && error === null && (
            <p className="soft blank">The answer appears here, in words and numbers.</p>
          )}
        </div>
      </div>
      <Code model={model} draft={draft} />
    </section>
  );
}

function Code({ model, draft }: { readonly model: Model; readonly draft: Draft }) {
  const { origin } = source();
  return (
    <details>
      <summary>The same from your code</summary>
      <Tabs.Root defaultValue="Solidity">
        <Tabs.List className="tabs" aria-label="Languages">
          {languages(origin).map((language) => (
            <Tabs.Trigger key={language} className="tab" value={language}>
              {language}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {languages(origin).map((language) => (
          <Tabs.Content key={language} value={language}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
            <pre className="code" tabIndex={0}>
              {codeFor(language, model, draft, origin)}
            </pre>
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </details>
  );
}
