/** Asks a transcript's model again. A language model need not write the same twice: a difference is a fact to look at,
 *  never fraud. */
import { choiceHashOf, toResult } from "./agent-executor.ts";
import type { ReasoningEngine } from "./engine/engine.ts";
import type { LanguageModel } from "./models/language-model.ts";
import type { Registry } from "./registry.ts";
import type { Transcript } from "./transcript.ts";

export interface Replay {
  /** what it wrote this time */
  readonly completion: string;
  /** provider, model and parameters are those of the transcript */
  readonly sameModel: boolean;
  readonly sameCompletion: boolean;
  /** end, answer, tool and input are the same, whatever the words of the thought */
  readonly sameChoice: boolean;
  /** first character that differs in the completions */
  readonly differsAt?: number;
}

/** @throws BaseError of the model */
export async function replayTranscript(
  transcript: Transcript,
  model: LanguageModel,
  engines: Registry<ReasoningEngine>,
  signal?: AbortSignal,
): Promise<Replay> {
  const engine = engines.get(transcript.engine);
  const used = transcript.attempts.at(-1);
  const completion = await model.complete(
    {
      prompt: transcript.prompt,
      stop: engine.stop,
      grammar: engine.grammar(transcript.tools),
      seed: Number(used?.seed ?? 1),
    },
    signal,
  );
  const before = used?.completion ?? "";
  return {
    completion,
    sameModel: sameFields(transcript.model, model.description),
    sameCompletion: completion === before,
    sameChoice: choiceOf(completion, transcript, engine) === transcript.result.choiceHash,
    ...(completion === before ? {} : { differsAt: commonLength(completion, before) }),
  };
}

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
