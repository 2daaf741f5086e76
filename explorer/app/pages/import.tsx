import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { importFiles } from "../import/client.ts";
import { Failure, Loading } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";
import { PageTitle } from "../parts/title.tsx";
import { Deploy } from "./import/deploy.tsx";
import { type Draft, draftOf, settingsOf } from "./import/draft.ts";
import { Drop } from "./import/drop.tsx";
import { Lanes } from "./import/lanes.tsx";
import { Refused } from "./import/refused.tsx";
import { ProgramSheet, Summary } from "./import/result.tsx";
import { Settings } from "./import/settings.tsx";
import "../theme/import.css";

const KEY_FILE = "verification-key.bin";

/** Files that were dropped together. */
interface Dropped {
  readonly id: number;
  readonly files: readonly File[];
}

/** From an ONNX file to a model on the chain. */
export function Import() {
  const [dropped, setDropped] = useState<Dropped>();
  return (
    <div className="stack">
      <PageTitle name="Import">Import a model</PageTitle>
      <p className="lead">
        An ONNX file becomes a <Term word="program">program</Term> whose every output bit is defined. The
        importer of <code>assay model import</code> runs in this browser.
      </p>
      <Drop
        hasFiles={dropped !== undefined}
        onFiles={(files) => setDropped(({ id } = { id: 0, files: [] }) => ({ id: id + 1, files }))}
      />
      {dropped !== undefined && <Imported key={dropped.id} dropped={dropped} />}
    </div>
  );
}

/** A name to begin with: that of the file, without its ending. */
function nameOf(files: readonly File[]): string {
  const file = files.find(({ name }) => name.endsWith(".onnx")) ?? files[0];
  return file?.name.replace(/\.onnx$/i, "") || "model";
}

function Imported({ dropped: { id, files } }: { readonly dropped: Dropped }) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(nameOf(files)));
  const queries = useQueryClient();
  const queryKey = ["files", "import", id, draft];
  const outcome = useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      const { name, lanes } = draft;
      return importFiles({ files, name, lanes, settings: settingsOf(draft) }, signal);
    },
    // The worker holds the newest model alone, and nothing but another draft makes another one.
    ...{ retry: false, staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  });
  const { data, error, isFetching } = outcome;
  const model = data?.kind === "imported" ? data.model : undefined;
  return (
    <>
      <Settings applied={draft} onApply={setDraft} />
      {error !== null && <Failure error={error} retry={() => void outcome.refetch()} />}
      {isFetching && (
        <>
          <p className="row">
            <button type="button" className="button" onClick={() => void queries.cancelQueries({ queryKey })}>
              Stop
            </button>
          </p>
          <Loading lines={10} what="Importing" />
        </>
      )}
      {!isFetching && data === undefined && error === null && (
        <p className="row">
          <button type="button" className="button" onClick={() => void outcome.refetch()}>
            Import it after all
          </button>
          <span className="soft">The import was stopped.</span>
        </p>
      )}
      {data?.kind === "refused" && <Refused refusal={data.refusal} />}
      {model !== undefined && (
        <>
          <Summary model={model} />
          <Lanes
            model={model}
            hasKey={files.some(({ name }) => name === KEY_FILE)}
            onLanes={(lanes) => setDraft({ ...draft, lanes })}
          />
          <Deploy model={model} />
          <ProgramSheet steps={model.steps} />
        </>
      )}
    </>
  );
}
