import { useEffect, useState } from "react";
import { type LiveState, useLive } from "./live.ts";

/** A chain whose head is older than this is not counted on from: nobody knows its time. Seconds. */
const MOST_AHEAD = 60;

const nowOf = ({ head, headAtMs }: LiveState): number | undefined =>
  head === undefined
    ? undefined
    : head.timestamp + Math.min(MOST_AHEAD, Math.floor((Date.now() - headAtMs) / 1_000));

const tickers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all that counts. */
function everySecond(tick: () => void): () => void {
  tickers.add(tick);
  timer ??= setInterval(() => {
    for (const each of tickers) each();
  }, 1_000);
  return () => {
    tickers.delete(tick);
    if (tickers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The second that it is on the chain: its newest block's, counted on by this machine's clock until the next block.
 *  Undefined before the first block is known. */
export function useChainNow(): number | undefined {
  const head = useLive((state) => state.head);
  const headAtMs = useLive((state) => state.headAtMs);
  const [, setTick] = useState(0);
  useEffect(() => everySecond(() => setTick((tick) => tick + 1)), []);
  return nowOf({ head, headAtMs } as LiveState);
}
