import { type FormEvent, type ReactNode, useState } from "react";
import { ARITHMETIC_FORMS, PRODUCT_FORMS } from "../../../../inference/onnx/named-settings.ts";
import { INPUT_CODECS, OUTPUT_CODECS } from "../../../../inference/program/form.ts";
import type { Draft } from "./draft.ts";

interface SettingsProps {
  readonly applied: Draft;
  readonly onApply: (draft: Draft) => void;
}

/** How the file is imported: what is switched holds at once, what is written when the button is pressed. */
export function Settings({ applied, onApply }: SettingsProps) {
  const [written, setWritten] = useState(applied);
  const write = (change: Partial<Draft>) => setWritten({ ...written, ...change });
  const apply = (change: Partial<Draft>) => {
    const draft = { ...written, lanes: applied.lanes, ...change };
    setWritten(draft);
    onApply(draft);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply({});
  };
  return (
    <form className="sheet stack" aria-labelledby="settings" onSubmit={submit}>
      <h2 id="settings">How it is imported</h2>
      <Switch name="nudge" isOn={written.nudge} onChange={(nudge) => apply({ nudge })}>
        moves scales of weights by at most a thousandth where that gives a requantization its integer form,
        which costs less gas
      </Switch>
      <details>
        <summary>More settings</summary>
        <div className="stack">
          <Switch
            name="quantized inputs"
            isOn={written.quantizedInputs}
            onChange={(quantizedInputs) => apply({ quantizedInputs })}
          >
            drops the QuantizeLinear of each input, so that bytes are the input
          </Switch>
          <div className="filters">
            <Choice
              name="input codec"
              value={written.codec}
              of={INPUT_CODECS}
              onChange={(codec) => apply({ codec: codec as Draft["codec"] })}
            />
            <Choice
              name="output codec"
              value={written.output}
              of={OUTPUT_CODECS}
              onChange={(output) => apply({ output: output as Draft["output"] })}
            />
            <Choice
              name="products of computed tensors"
              value={written.products}
              of={PRODUCT_FORMS}
              onChange={(products) => apply({ products: products as Draft["products"] })}
            />
            <Choice
              name="softmax, normalizations and sums"
              value={written.arithmetic}
              of={ARITHMETIC_FORMS}
              onChange={(form) => apply({ arithmetic: form as Draft["arithmetic"] })}
            />
          </div>
          <div className="columns" style={{ "--column": "14rem" } as React.CSSProperties}>
            <Text name="Name, where there is no tool.json">
              <input
                className="input"
                value={written.name}
                onChange={(e) => write({ name: e.target.value })}
              />
            </Text>
            <Text name="Most bytes of a text (codec text)">
              <input
                className="input"
                inputMode="numeric"
                placeholder="1024"
                value={written.textBytes}
                onChange={(e) => write({ textBytes: e.target.value })}
              />
            </Text>
            <Text name="Sizes of symbolic dims, NAME=N">
              <textarea
                className="input mono"
                rows={2}
                value={written.dims}
                onChange={(e) => write({ dims: e.target.value })}
              />
            </Text>
            <Text name="Types of inputs, NAME=int32, uint8 or int8">
              <textarea
                className="input mono"
                rows={2}
                value={written.inputTypes}
                onChange={(e) => write({ inputTypes: e.target.value })}
              />
            </Text>
            <Text name="Only these outputs, one a line">
              <textarea
                className="input mono"
                rows={2}
                value={written.keep}
                onChange={(e) => write({ keep: e.target.value })}
              />
            </Text>
            <Text name="The input that is the claimed output">
              <input
                className="input mono"
                value={written.claimed}
                onChange={(e) => write({ claimed: e.target.value })}
              />
            </Text>
          </div>
          <p>
            <button type="submit" className="button">
              Import again
            </button>
          </p>
        </div>
      </details>
    </form>
  );
}

interface SwitchProps {
  readonly name: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}

function Switch({ name, isOn, onChange, children }: SwitchProps) {
  return (
    <label className="switch">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      <span>
        <strong>{name}</strong> <span className="soft">{children}</span>
      </span>
    </label>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly of: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ name, value, of, onChange }: ChoiceProps) {
  return (
    <label className="field">
      <span>{name}</span>
      <select className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">as it comes</option>
        {of.map((codec) => (
          <option key={codec}>{codec}</option>
        ))}
      </select>
    </label>
  );
}

const Text = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the field is what stands in it.
  <label className="field">
    <span>{name}</span>
    {children}
  </label>
);
