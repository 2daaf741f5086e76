/** One iteration of an agent's reasoning: prompt, completion, next step. */
import { BaseError, isBaseError } from "../../base/errors.ts";
import type { NextStep, ReasoningEngine } from "./engine/engine.ts";
import type { PromptParts } from "./engine/prompt.ts";
import { descriptionFor, type LanguageModel, type ModelDescription } from "./models/language-model.ts";

/** What a model wrote at one try. @param error code of why it was not used; absent for the last, if that was used */
interface Attempt {
  readonly seed: number;
  readonly completion: string;
  readonly error?: string;
}

export interface Iteration {
  readonly prompt: string;
  readonly model: ModelDescription;
  /** every try, the one that was used last */
  readonly attempts: readonly Attempt[];
  readonly step: NextStep;
}

export interface IterateOptions {
  readonly engine: ReasoningEngine;
  readonly model: LanguageModel;
  /** how often the model may write something that cannot be used; default 3. An exact model is asked once */
  readonly tries?: number;
  /** of the first try; the next ones count on from it; default 1 */
  readonly seed?: number;
}

/** Errors of a completion that another one need not have. */
const UNUSABLE = ["COMPLETION_MALFORMED", "TOOL_UNKNOWN", "ACTION_INPUT_INVALID"];

/** @throws BaseError of the engine for tools or history that it does not take, of the model, and of the last try */
export async function iterate(
  parts: PromptParts,
  { engine, model, tries = 3, seed = 1 }: IterateOptions,
  signal?: AbortSignal,
): Promise<Iteration> {
  const prompt = engine.buildPrompt(parts);
  const grammar = engine.grammar(parts.tools);
  const attempts: Attempt[] = [];
  const most = model.exact === undefined ? tries : 1;
  for (let index = 0; ; index++) {
    const request = { prompt, stop: engine.stop, grammar, seed: seed + index };
    const completion = await model.complete(request, signal);
    try {
      const step = engine.parse(completion, parts.tools);
      attempts.push({ seed: request.seed, completion });
      return { prompt, model: descriptionFor(model, prompt), attempts, step };
    } catch (error) {
      if (!isUnusable(error)) throw error;
      if (index + 1 >= most) throw model.exact === undefined ? error : repeating(error);
      attempts.push({ seed: request.seed, completion, error: error.code });
    }
  }
}

const isUnusable = (error: unknown): error is BaseError =>
  isBaseError(error) && UNUSABLE.includes(error.code);

/** What an exact model wrote it writes again, whatever the seed: there is nothing to try. */
const repeating = (error: BaseError): BaseError =>
  new BaseError({
    code: error.code,
    shortMessage: error.shortMessage,
    nextStep:
      "The model is exact and writes the same for this prompt each time: ask something else, change the agent's base prompt, or use another model.",
    details: error.details,
    cause: error,
  });
