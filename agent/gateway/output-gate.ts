/** The output gate: what a model wrote reaches the client only if this lets it pass.
 *
 *  A prompt asks, this decides. Text passes if a tool succeeded in this turn, if it cites at least one tool that did
 *  and none that did not, and, under `words`, if every word and number of it stands in what the cited tools returned,
 *  in their names or descriptions, in an argument that the user himself wrote, or in a short list of words that say
 *  nothing by themselves. */
import { PLAIN_WORDS } from "./grounding-words.ts";
import { unableToRetrieve } from "./refusals.ts";
import type { Grounding } from "./store/agent-service.ts";

/** One call of this turn that ran. */
export interface ExecutedCall {
  readonly toolName: string;
  readonly description: string;
  readonly rawArguments: string;
  /** absent: the call failed */
  readonly data?: unknown;
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
const NUMBER = /(?<![\p{L}\p{M}\p{N}])(?:[-−+](?=\d))?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?![\p{L}\p{M}\p{N}])/giu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Pictures say words, too. */
const PICTURE = /(?![\x20-\x7e])[\p{So}\p{Sk}]/gu;
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
  const words = ungrounded(reply.replace(CITATION, " "), sources, message);
  return words.length === 0
    ? { passes: true }
    : { passes: false, reason: "not in the results", words: words.slice(0, 10) };
}

/** The sentence about a tool that failed needs no result. */
function withoutFailures(text: string, calls: readonly ExecutedCall[]): string {
  const failed = calls.filter(({ data }) => data === undefined);
  return failed.reduce((rest, { toolName }) => rest.replaceAll(unableToRetrieve(toolName), " "), text);
}

function ungrounded(text: string, sources: readonly ExecutedCall[], message: string): string[] {
  const ownWords = wordsOf(message);
  const known = new Set(PLAIN_WORDS);
  const numbers: number[] = [];
  const exact = new Set<string>();
  for (const { toolName, description, data, rawArguments } of sources) {
    const returned = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    const source = `${toolName} ${description} ${returned}`.normalize("NFKC");
    for (const word of wordsOf(source)) known.add(word);
    for (const [picture] of source.matchAll(PICTURE)) known.add(picture);
    // The model chose the arguments: only what the user wrote, too, is no news.
    for (const word of wordsOf(rawArguments.normalize("NFKC"))) if (ownWords.has(word)) known.add(word);
    for (const number of numbersOf(source)) {
      exact.add(number);
      numbers.push(Number(number));
    }
  }
  const own = new Set(numbersOf(message));
  for (const { rawArguments } of sources) {
    for (const number of numbersOf(rawArguments)) if (own.has(number)) exact.add(number);
  }
  const missing = numbersOf(text).filter((number) => !exact.has(number) && !isRounded(number, numbers));
  const rest = text.replace(NUMBER, " ");
  const pictures = [...text.matchAll(PICTURE)].map(([picture]) => picture);
  return [...missing, ...[...wordsOf(rest), ...pictures].filter((word) => !isKnown(word, known))];
}

/** Lower case; parts of camelCase names besides the whole. */
function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const [run] of text.matchAll(WORD)) {
    words.add(run.toLowerCase());
    for (const part of run.split(/(?<=\p{Ll})(?=\p{Lu})/u)) words.add(part.toLowerCase());
  }
  return words;
}

const isKnown = (word: string, known: ReadonlySet<string>): boolean =>
  known.has(word) || known.has(`${word}s`) || (word.endsWith("s") && known.has(word.slice(0, -1)));

/** Canonical decimals: without signs of thousands, a plus or zeros at the end. */
function numbersOf(text: string): string[] {
  return [...text.matchAll(NUMBER)].flatMap(([found]) => {
    const isGrouped = /^[-−+]?\d{1,3}(,\d{3})+(\.\d+)?(e|$)/i.test(found);
    const parts = isGrouped ? [found.replaceAll(",", "")] : found.split(",");
    return parts.map((part) => {
      const plain = part.replace("−", "-").replace(/^\+/, "");
      if (/^-?\d+\.\d+$/.test(plain)) return plain.replace(/\.?0+$/, "").replace(/^(-?)0+(?=\d)/, "$1");
      return plain.replace(/^(-?)0+(?=\d)/, "$1");
    });
  });
}

/** True if a returned number rounds to this one, which keeps at least three digits of it. */
function isRounded(number: string, returned: readonly number[]): boolean {
  const digits = number.replace(/^-?0*\.?0*/, "").replace(/\D/g, "").length;
  const decimals = /\.(\d+)$/.exec(number)?.[1]?.length ?? 0;
  if (digits < 3) return false;
  const value = Number(number);
  return returned.some((one) => Math.abs(one - value) <= 0.5 * 10 ** -decimals * (1 + 1e-9));
}
