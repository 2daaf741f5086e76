/** What those who watch are told of a change of the index. */
import type { StreamEvents } from "../api/types.ts";
import type { Change } from "../index/write.ts";
import { eventView } from "./events.ts";
import { headOf, type WithHead } from "./overview.ts";
import type { ReadParts } from "./parts.ts";

/** Events that are told one by one; of more, who watches reads the state anew. */
export const MAX_MESSAGES = 1_000;

/** One thing that is told: its name, and what it says. */
export type StreamMessage = {
  readonly [Name in keyof StreamEvents]: {
    /** whoever comes back goes on after it */
    readonly id?: string;
    readonly event: Name;
    readonly data: StreamEvents[Name];
  };
}[keyof StreamEvents];

/** Where the index was left by somebody else, who watches reads the state anew. */
export async function messagesOf(parts: ReadParts, change: Change): Promise<StreamMessage[]> {
  if (change.kind === "moved") return [resetMessage(parts)];
  if (change.kind === "rollback") return [{ event: "rollback", data: { ancestor: change.ancestor } }];
  const [first, last] = [change.moves[0], change.moves.at(-1)];
  if (first === undefined || last === undefined) return headMessages(parts);
  if (change.moves.length > MAX_MESSAGES) return [resetMessage(parts)];
  return [...(await messagesBetween(parts, first.seq, last.seq)), ...headMessages(parts)];
}

/** Events by their places, both included: at most one more than are told one by one. */
export async function messagesBetween(
  { index }: ReadParts,
  first: number,
  last: number,
): Promise<StreamMessage[]> {
  const order = "ORDER BY m.seq LIMIT ?";
  const moves = await index.tables.moves("m.seq BETWEEN ? AND ?", order, [first, last, MAX_MESSAGES + 1]);
  return moves.map((move) => {
    const data = eventView(move);
    return { id: data.id, event: "event", data };
  });
}

/** Nothing before the first block. */
export function headMessages(parts: WithHead): StreamMessage[] {
  const { head } = headOf(parts);
  return head === undefined ? [] : [{ event: "head", data: head }];
}

export const resetMessage = (parts: WithHead): StreamMessage => ({ event: "reset", data: headOf(parts) });
