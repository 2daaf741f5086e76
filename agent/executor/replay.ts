/** Asks a transcript's model again. A language model need not write the same twice: a difference is a fact to look at,
 *  never fraud. An exact model writes the same: there a difference shows that the transcript is false. */
import { isBaseError } from "../../base/errors.ts";
import { choiceHashOf, toResult } from "./agent-executor.ts";
import type { ReasoningEngine } from "./engine/engine.ts";
import {
  descriptionFor,
  EXACT_PROVIDER,
  type LanguageModel,
  type ModelDescription,
} from "./models/language-model.ts";
import type { Registry } from "./registry.ts";
import type { Transcript } from "./transcript.ts";

/** What the replay shows of the transcript. `REPEATED`: its exact model writes these completions. `FALSE`: its exact
 *  model does not. `UNCHECKED`: it names an exact model, and another one was asked, or this one with other ids.
 *  `NOT_EXACT`: its model is not exact, so nothing follows. */
export type ReplayVerdict = "REPEATED" | "FALSE" | "UNCHECKED" | "NOT_EXACT";

export interface Replay {
  readonly verdict: ReplayVerdict;
  /** of `FALSE` and `UNCHECKED` */
  readonly reason?: string;
  /** what it wrote this time; absent where an exact model comes to no end */
  readonly completion?: string;
  /** provider, model and parameters are those of the transcript */
  readonly sameModel: boolean;
  readonly sameCompletion: boolean;
  /** end, answer, tool and input are the same, whatever the words of the thought */
  readonly sameChoice: boolean;
  /** first character that differs in the completions */
  readonly differsAt?: number;
}

/** @throws BaseError of the model: PROMPT_TOO_LONG and others say that it could not be asked, and nothing of the
 *  transcript */
export async function replayTranscript(
  transcript: Transcript,
  model: LanguageModel,
  engines: Registry<ReasoningEngine>,
  signal?: AbortSignal,
): Promise<Replay> {
  const { prompt, attempts, tools } = transcript;
  const engine = engines.get(transcript.engine);
  const used = attempts.at(-1);
  const seed = Number(used?.seed ?? 1);
  const request = { prompt, stop: engine.stop, grammar: engine.grammar(tools), seed };
  const here = descriptionFor(model, prompt);
  const isChecked = isExact(transcript.model) && unchecked(transcript.model, here) === undefined;
  const completion = await model.complete(request, signal).catch((error: unknown) => {
    if (isChecked && isBaseError(error, "MODEL_TRUNCATED")) return undefined;
    throw error;
  });
  const before = used?.completion ?? "";
  const isSame = completion === before;
  return {
    ...verdictOn(transcript, here, completion),
    ...(completion === undefined ? {} : { completion }),
    sameModel: sameFields(withoutInput(transcript.model), withoutInput(here)),
    sameCompletion: isSame,
    sameChoice:
      completion !== undefined && choiceOf(completion, transcript, engine) === transcript.result.choiceHash,
    ...(isSame || completion === undefined ? {} : { differsAt: commonLength(completion, before) }),
  };
}

const isExact = ({ provider }: ModelDescription): boolean => provider === EXACT_PROVIDER;

function verdictOn(
  { model, attempts }: Transcript,
  here: ModelDescription,
  completion: string | undefined,
): Pick<Replay, "verdict" | "reason"> {
  if (!isExact(model)) return { verdict: "NOT_EXACT" };
  const obstacle = unchecked(model, here);
  if (obstacle !== undefined) return { verdict: "UNCHECKED", reason: obstacle };
  const isTrue = attempts.every((attempt) => attempt.completion === completion);
  if (isTrue) return { verdict: "REPEATED" };
  const wrote =
    completion === undefined ? "comes to no end" : "writes something else than the transcript says";
  return { verdict: "FALSE", reason: `for this prompt the exact model ${model.modelId} ${wrote}` };
}

/** Why an exact model that was asked here says nothing of the transcript. */
function unchecked(recorded: ModelDescription, here: ModelDescription): string | undefined {
  if (recorded.modelId !== here.modelId || !isExact(here))
    return `the transcript's model is ${recorded.modelId}, the one here ${here.modelId ?? "not exact"}`;
  if (!sameFields(withoutInput(recorded), withoutInput(here)))
    return "the model here has other files of its tokenizer";
  if (recorded.inputHash !== here.inputHash)
    return `the transcript's prompt was the input ${recorded.inputHash}, and is ${here.inputHash} here: another version made its ids, or the transcript is false`;
  return undefined;
}

const withoutInput = ({ inputHash, ...rest }: ModelDescription): ModelDescription => rest;

function choiceOf(completion: string, { tools }: Transcript, engine: ReasoningEngine): string | undefined {
  try {
    return choiceHashOf(toResult(engine.parse(completion, tools)));
  } catch {
    return undefined;
  }
}

function sameFields(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => a[key] === b[key]);
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
