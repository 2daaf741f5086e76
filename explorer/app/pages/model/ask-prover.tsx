import type { Model } from "../../../api/types.ts";

/** Whom to ask, and for what. */
export interface Wish {
  readonly prover: string;
  readonly finality: "any" | "final";
}

interface AskProverProps {
  readonly model: Model;
  readonly wish: Wish;
  readonly isPending: boolean;
  readonly onChange: (wish: Wish) => void;
  readonly onAsk: () => void;
}

/** The choice of a prover that serves the model, beside the chain's own run. */
export function AskProver({ model, wish, isPending, onChange, onAsk }: AskProverProps) {
  return (
    <fieldset className="row ask-prover">
      <legend className="small soft">or have a prover answer, off the chain</legend>
      <label className="field">
        <span className="unseen">prover</span>
        <select
          className="input"
          value={wish.prover}
          onChange={({ target }) => onChange({ ...wish, prover: target.value })}
        >
          {model.askable.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span className="unseen">what is wanted</span>
        <select
          className="input"
          value={wish.finality}
          onChange={({ target }) => onChange({ ...wish, finality: target.value as Wish["finality"] })}
        >
          <option value="any">an answer now, unverified</option>
          <option value="final">a final one, or its price</option>
        </select>
      </label>
      <button type="button" className="button" disabled={isPending} onClick={onAsk}>
        {isPending ? "The prover runs it…" : "Ask the prover"}
      </button>
    </fieldset>
  );
}
