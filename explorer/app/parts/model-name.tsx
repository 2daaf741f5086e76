import { Link } from "@tanstack/react-router";
import { shortId } from "./id.tsx";
import { Outside } from "./outside.tsx";

interface Named {
  readonly modelId: string;
  readonly modelName?: string | undefined;
}

/** A model's name, as its manifest calls it, or the ends of its id; leads to its page. */
export function ModelName({ of: { modelId, modelName } }: { readonly of: Named }) {
  return (
    <Link to="/models/$id" params={{ id: modelId }} title={modelId}>
      {modelName === undefined ? (
        <span className="mono">{shortId(modelId)}</span>
      ) : (
        <Outside text={modelName} />
      )}
    </Link>
  );
}
