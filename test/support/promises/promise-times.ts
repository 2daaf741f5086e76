/** Seconds in which something changes, or in which somebody who waits as long as he may must move. */

import { PEOPLE } from "./promise-models.ts";
import type { PromiseTable } from "./promise-table.ts";

export function finalTime(table: PromiseTable): number[] {
  const { state, answerSeconds } = table;
  const times: number[] = [];
  for (const { claim, showAt, digest } of table.accepted) {
    const end = table.rules.end(claim);
    times.push(showAt);
    if (!state.signed.has(digest)) times.push(claim.issuedAt, end, end + 1);
  }
  for (const prover of [PEOPLE.cheat, PEOPLE.honest]) {
    const { exitAt, leaving, hotSince, queue, keys } = table.account(prover);
    if (leaving > 0n) times.push(exitAt - 1, exitAt);
    if (queue.length > 0 && hotSince > 0) times.push(hotSince + table.turn - 1, hotSince + table.turn);
    for (const until of keys.values()) times.push(until, until + 1);
  }
  for (const batch of state.batches.values()) {
    if (!batch.isFallen) times.push(batch.windowEnd - 1, batch.windowEnd);
  }
  for (const [claimId] of table.live()) {
    const held = state.assay.claims.get(claimId);
    if (held === undefined || held.word.state !== "ACTIVE") continue;
    const { windowEnd, traceDeadline, lastEvent, hardEnd } = held.word;
    times.push(windowEnd - 1, windowEnd);
    if (traceDeadline > 0) times.push(traceDeadline, traceDeadline + 1);
    if (lastEvent > 0) times.push(lastEvent + answerSeconds, lastEvent + answerSeconds + 1, hardEnd);
    for (const { deadline, answered } of held.demands.values())
      if (!answered) times.push(deadline, deadline + 1);
  }
  return times;
}
