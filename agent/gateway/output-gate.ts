/** The output gate: what a model wrote reaches the client only if this lets it pass.
 *
 *  A prompt asks, this decides. Text passes if a tool succeeded in this turn, if it cites at least one tool that did
 *  and none that did not, and, under `words`, if every word, number and mark of it stands in what the cited tools
 *  returned, in their names or descriptions, in an argument that the user himself wrote, or in a short list of words
 *  that say nothing by themselves (`grounding.ts`). */
import type { Reading } from "../../inference/meaning/read.ts";
import { ungrounded } from "./grounding.ts";
import { unableToRetrieve } from "./refusals.ts";
import type { Grounding } from "./store/agent-service.ts";

/** One call of this turn that ran. */
export interface ExecutedCall {
  readonly toolName: string;
  readonly description: string;
  readonly rawArguments: string;
  /** absent: the call failed */
  readonly data?: unknown;
  /** what the output of a model says, by its manifest */
  readonly meaning?: Reading;
}

export type Verdict =
  | { readonly passes: true }
  | {
      readonly passes: false;
      readonly reason:
        | "empty"
        | "no successful tool result"
        | "no citation"
        | "citation of another tool"
        | "not in the results";
      /** what is not in the results, at most ten */
      readonly words?: readonly string[];
    };

const CITATION = /call_[a-z0-9_-]*/gi;
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** The model's text as it is judged and, if it passes, sent: compatibility forms folded, nothing invisible in it. */
export const cleanReply = (text: string): string => text.normalize("NFKC").replace(UNSEEN, "").trim();

/** @param text the model's whole answer, after `cleanReply` @param message of the user */
export function judgeReply(
  text: string,
  calls: readonly ExecutedCall[],
  message: string,
  grounding: Grounding,
): Verdict {
  const succeeded = calls.filter(({ data }) => data !== undefined);
  if (succeeded.length === 0) return { passes: false, reason: "no successful tool result" };
  const reply = withoutFailures(text, calls);
  if (reply.trim() === "") return { passes: false, reason: "empty" };
  const cited = new Set(
    [...reply.matchAll(CITATION)].map(([name]) => name.toLowerCase().replace(/[-_]+$/, "")),
  );
  if (cited.size === 0) return { passes: false, reason: "no citation" };
  const names = new Set(succeeded.map(({ toolName }) => toolName.replace(/[-_]+$/, "")));
  if ([...cited].some((name) => !names.has(name)))
    return { passes: false, reason: "citation of another tool" };
  if (grounding === "citations") return { passes: true };
  const sources = succeeded.filter(({ toolName }) => cited.has(toolName.replace(/[-_]+$/, "")));
  const words = ungrounded(reply, sources, message);
  return words.length === 0
    ? { passes: true }
    : { passes: false, reason: "not in the results", words: words.slice(0, 10) };
}

/** The sentence about a tool that failed needs no result. */
function withoutFailures(text: string, calls: readonly ExecutedCall[]): string {
  const failed = calls.filter(({ data }) => data === undefined);
  return failed.reduce((rest, { toolName }) => rest.replaceAll(unableToRetrieve(toolName), " "), text);
}
