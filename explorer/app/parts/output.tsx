import type { Data, Meaning, Token } from "../../api/types.ts";
import { Outside } from "./outside.tsx";

/** A reading's parts: classes with their probabilities, quantiles, numbers. */
export function Reading({ meaning }: { readonly meaning: Meaning }) {
  return (
    <div className="reading">
      <p className="reading-text">
        <Outside text={meaning.text} />
      </p>
      {meaning.kind === "classes" && <Classes meaning={meaning} />}
      {meaning.kind === "quantiles" && (
        <ul className="row small">
          {meaning.quantiles.map(({ percent, text }) => (
            <li key={percent}>
              <span className="soft">{percent} %</span> <Outside text={text} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Classes({
  meaning: { classes, index },
}: {
  readonly meaning: Extract<Meaning, { kind: "classes" }>;
}) {
  if (classes.every(({ probability }) => probability === undefined)) return null;
  return (
    <ul className="classes small">
      {classes.map(({ label, probability = 0 }, i) => (
        <li key={i} className={i === index ? "is-chosen" : ""}>
          <Outside text={label} />
          <meter min={0} max={1} value={probability} aria-label={`probability of class ${i}`} />
          <span className="number">{(100 * probability).toFixed(1)} %</span>
        </li>
      ))}
    </ul>
  );
}

/** A language model's tokens in their order. @param wrong place of the one that was convicted */
export function Tokens({ of, wrong }: { readonly of: readonly Token[]; readonly wrong?: number }) {
  return (
    <ol className="tokens" aria-label="Tokens">
      {of.map(({ place, id, text, isControl }) => (
        <li
          key={place}
          className={`${isControl === true ? "is-control" : ""} ${place === wrong ? "is-wrong" : ""}`}
          title={`place ${place}, id ${id}`}
        >
          <Outside text={text} />
        </li>
      ))}
    </ol>
  );
}

const SHOWN_VALUES = 12;

function shownValue(value: unknown): string {
  if (Array.isArray(value)) {
    const shown = value.slice(0, SHOWN_VALUES).map(shownValue).join(", ");
    return value.length > SHOWN_VALUES ? `[${shown}, … ${value.length} in all]` : `[${shown}]`;
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Values by name, as the function's arguments or results. */
export function Values({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  return (
    <dl className="facts values">
      {Object.entries(of).map(([name, value]) => (
        <ValueRow key={name} name={name} value={shownValue(value)} />
      ))}
    </dl>
  );
}

const ValueRow = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <>
    <dt>
      <Outside text={name} />
    </dt>
    <dd className="mono">
      <Outside text={value} />
    </dd>
  </>
);

const said = (tokens: readonly Token[]): string =>
  tokens.map(({ text, isControl }) => (isControl === true ? "" : text)).join("");

/** The same in one line: in words, else by its values, else its first bytes. */
export function dataText({ meaning, tokens, values, hex }: Data): string {
  if (meaning !== undefined) return meaning.text;
  if (tokens !== undefined) return said(tokens);
  if (values === undefined) return hex.slice(0, 66);
  return Object.values(values).map(shownValue).join(", ");
}

/** Calldata or return data: in words where the manifest has some, in values, and as bytes. */
export function DataSheet({ data }: { readonly data: Data }) {
  return (
    <div className="stack near">
      {data.meaning !== undefined && <Reading meaning={data.meaning} />}
      {data.tokens !== undefined && <Tokens of={data.tokens} />}
      {data.values !== undefined && <Values of={data.values} />}
      <details>
        <summary className="small soft">
          {data.bytes} bytes{data.isCut ? ", the first of them" : ""}
        </summary>
        <pre className="code wrap">{data.hex}</pre>
      </details>
    </div>
  );
}
