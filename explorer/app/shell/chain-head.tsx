import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useChainNow } from "../data/chain-time.ts";
import { setHead, useLive } from "../data/live.ts";
import { healthQuery } from "../data/queries.ts";
import { Hint } from "../parts/hint.tsx";
import { absoluteText, durationText } from "../parts/time.tsx";

const BLOCKS = new Intl.NumberFormat("en");

/** What is known of the connection to the explorer and of its connection to the chain. */
export function useReachability() {
  const connection = useLive((state) => state.connection);
  const { data, isError } = useQuery(healthQuery);
  const isSilent = isError || (connection === "lost" && data === undefined);
  return { health: isError ? undefined : data, isSilent, connection };
}

/** The newest block, its age, and whether the page is live. */
export function ChainHead() {
  const head = useLive((state) => state.head);
  const { health, isSilent, connection } = useReachability();
  const now = useChainNow();
  const known = health?.head;
  useEffect(() => {
    if (known !== undefined) setHead(known);
  }, [known]);
  const isLive = connection === "open" && !isSilent && health?.status !== "node-unreachable";
  const age = head === undefined || now === undefined ? undefined : now - head.timestamp;
  return (
    <Hint
      className={`chain-head ${isLive ? "is-live" : "is-stale"}`}
      tip={
        <>
          <strong>{isLive ? "Live" : "Not live"}</strong>
          {head === undefined
            ? "No block is known yet."
            : `Block ${BLOCKS.format(head.number)} of chain ${health?.chainId ?? "?"}, ${absoluteText(head.timestamp)}.`}
        </>
      }
    >
      <span className="pulse" aria-hidden="true" />
      <span className="unseen">{isLive ? "live, block" : "not live, block"} </span>
      <span className="number">{head === undefined ? "…" : BLOCKS.format(head.number)}</span>
      {age !== undefined && <span className="chain-age soft number">{durationText(age)} ago</span>}
    </Hint>
  );
}
