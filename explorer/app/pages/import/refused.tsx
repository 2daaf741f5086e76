import type { RefusedNode } from "../../../../inference/onnx/refused-import.ts";
import type { Refusal } from "../../import/forms.ts";
import { Outside } from "../../parts/outside.tsx";

/** Why there is no model: what is wrong, and what to do about it. */
export function Refused({ refusal: { code, message, nextStep, parts } }: { readonly refusal: Refusal }) {
  return (
    <section className="stack" aria-label="What cannot be imported">
      <div className="notice tone-bad" role="alert" data-code={code}>
        <strong>
          <Outside text={message} />
        </strong>
        {nextStep !== undefined && (
          <p>
            <Outside text={nextStep} />
          </p>
        )}
      </div>
      {parts !== undefined && parts.nodes.length > 0 && (
        <section className="sheet stack" aria-labelledby="in-the-way">
          <h2 id="in-the-way">What is in the way</h2>
          <ul className="stack">
            {parts.nodes.map((node, i) => (
              <Node key={i} node={node} />
            ))}
          </ul>
        </section>
      )}
      {parts !== undefined && <Rest limits={parts.limits} unseen={parts.unseen} />}
    </section>
  );
}

const Node = ({ node: { node, op, reason, nextStep } }: { readonly node: RefusedNode }) => (
  <li className="refused-node">
    <p>
      <strong>
        <Outside text={op} />
      </strong>{" "}
      <span className="soft">at</span>{" "}
      <span className="mono">
        <Outside text={node} />
      </span>
    </p>
    <p>
      <Outside text={reason} />.
    </p>
    <p className="soft">
      <Outside text={nextStep} />
    </p>
  </li>
);

function Rest({
  limits,
  unseen,
}: {
  readonly limits: readonly string[];
  readonly unseen: readonly string[];
}) {
  if (limits.length + unseen.length === 0) return null;
  return (
    <ul className="sheet stack near">
      {limits.map((limit, i) => (
        <li key={i}>
          <Outside text={limit} />
        </li>
      ))}
      {unseen.length > 0 && (
        <li>
          {unseen.length} more behind them could not be looked at, for the file does not say what they read;
          onnx.shape_inference.infer_shapes adds that: <Outside text={unseen.slice(0, 20).join(", ")} />
          {unseen.length > 20 && ", …"}
        </li>
      )}
    </ul>
  );
}
