import { useQuery } from "@tanstack/react-query";
import { dismissRollback, useLive } from "../data/live.ts";
import { overviewQuery } from "../data/queries.ts";
import { Term } from "../parts/term.tsx";
import { durationText } from "../parts/time.tsx";
import { useReachability } from "./chain-head.tsx";
import { ReadingBanner } from "./reading-banner.tsx";

const BLOCKS = new Intl.NumberFormat("en");

/** What is not as usual: the node is gone, the index is behind, the chain was replaced, nothing answers. */
export function Banners() {
  const { health, isSilent } = useReachability();
  const reading = useLive((state) => state.reading);
  const rollback = useLive((state) => state.rollback);
  return (
    <div className="banners" aria-live="polite">
      {reading !== undefined && <ReadingBanner reading={reading} />}
      {isSilent && reading === undefined && (
        <div className="notice tone-bad">
          <strong>The explorer does not answer</strong>
          <p>What you see may be old. This page tries again by itself; see that `assay explorer` runs.</p>
        </div>
      )}
      {health?.status === "node-unreachable" && (
        <div className="notice tone-bad">
          <strong>The chain's node is silent</strong>
          <p>
            {health.silentSeconds === undefined ? "It" : `For ${durationText(health.silentSeconds)} it`} has
            not answered. Everything below is as of the last block that was read; deadlines on the chain go
            on.
          </p>
        </div>
      )}
      {health?.status === "database-unreachable" && (
        <div className="notice tone-bad">
          <strong>The explorer's database is silent</strong>
          <p>What you see may be old; the explorer goes on by itself when it is back.</p>
        </div>
      )}
      {health?.status === "behind" && (reading === undefined || reading.state === "live") && (
        <div className="notice tone-wait">
          <strong>The index is {BLOCKS.format(health.blocksBehind ?? 0)} blocks behind</strong>
          <p>It is catching up: newer events are not shown yet.</p>
        </div>
      )}
      {rollback !== undefined && (
        <div className="notice tone-wait row spread">
          <div>
            <strong>The chain replaced its blocks above {BLOCKS.format(rollback.ancestor)}</strong>
            <p>A re-org: what was in them has been read again. Only what is deep in the chain stays.</p>
          </div>
          <button type="button" className="button" onClick={dismissRollback}>
            Understood
          </button>
        </div>
      )}
      <Development />
    </div>
  );
}

function Development() {
  const { data } = useQuery(overviewQuery);
  if (data?.isDevelopment !== true) return null;
  return (
    <p className="development small">
      Local chain {data.chainId}: everybody knows its keys, and nothing here is worth anything. A{" "}
      <Term word="proof lane key">proof lane key</Term> of it proves nothing elsewhere.
    </p>
  );
}
