import { visibleRuns } from "./visible.ts";

/** Text that a stranger wrote: never markup, isolated in its direction, with controls shown as such. */
export function Outside({ text }: { readonly text: string }) {
  const runs = visibleRuns(text);
  return (
    <span className="outside">
      {runs.map(({ text: part, isControl }, i) =>
        isControl ? (
          <span key={i} className="control-character">
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </span>
  );
}
