import { useMutation } from "@tanstack/react-query";
import type { Hex } from "viem";
import { getBytes } from "../data/api.ts";
import { save } from "../data/save.ts";
import { Id } from "./id.tsx";
import { Failure } from "./states.tsx";
import { Term } from "./term.tsx";

interface ProofFilesProps {
  readonly requestId: string;
  /** one that is over, one way or the other: it has a record; absent: the page is about the request */
  readonly claimId?: string;
  /** whether agents can rely on the output: it has a receipt */
  readonly isFinal: boolean;
}

/** Files that show to somebody who has no node what the chain says of an output. */
export function ProofFiles({ requestId, claimId, isFinal }: ProofFilesProps) {
  const path = `/v1/requests/${requestId}`;
  return (
    <section className="sheet stack near" aria-labelledby="files">
      <h2 id="files">Take the proof with you</h2>
      <p>
        A file with the chain's own words and the way to them from one block's hash. Whoever trusts that hash
        checks it without a node, now or in years.
      </p>
      {isFinal && (
        <ProofFile
          label="Receipt"
          path={`${path}/receipt`}
          name={`receipt-${requestId.slice(2, 10)}.json`}
          command="assay receipt check"
        >
          shows that this output is final.
        </ProofFile>
      )}
      {claimId !== undefined && (
        <ProofFile
          label="Record"
          path={`${path}/record?claim=${claimId}`}
          name={`record-${claimId.slice(2, 10)}.json`}
          command="assay claim check"
        >
          the <Term word="correctness record">correctness record</Term> shows how this claim ended, and has
          its input: whoever holds the model runs it again.
        </ProofFile>
      )}
    </section>
  );
}

interface ProofFileProps {
  readonly label: string;
  readonly path: string;
  readonly name: string;
  readonly command: string;
  readonly children: React.ReactNode;
}

function ProofFile({ label, path, name, command, children }: ProofFileProps) {
  const made = useMutation({
    mutationFn: async () => {
      const [{ keccak256 }, bytes] = await Promise.all([import("viem"), getBytes(path)]);
      const { header } = JSON.parse(new TextDecoder().decode(bytes)) as { header: Hex };
      save(name, bytes);
      return keccak256(header);
    },
  });
  return (
    <div className="stack near">
      <p className="row">
        <button type="button" className="button" disabled={made.isPending} onClick={() => made.mutate()}>
          {made.isPending ? `Making the ${label.toLowerCase()}…` : `Download the ${label.toLowerCase()}`}
        </button>
        <span className="small soft">{children}</span>
      </p>
      <div aria-live="polite">
        {made.error !== null && <Failure error={made.error} retry={() => made.mutate()} />}
        {made.data !== undefined && (
          <div className="notice tone-info">
            <strong>{name} is saved</strong>
            <p className="small">
              It rests on block <Id id={made.data} what="block hash" />: compare that hash with a source that
              you trust, then
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
            <pre className="code" tabIndex={0}>
              {`${command} ${name} --deployment FILE --block ${made.data}`}
            </pre>
          </div>
        )}
      </div>
    </div>
  );
}
