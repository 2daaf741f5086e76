/** What an executor needs of a language model. */
import { BaseError } from "../../../base/errors.ts";
import { Registry } from "../registry.ts";

export interface CompletionRequest {
  readonly prompt: string;
  /** texts at which the completion ends; they are not part of it */
  readonly stop: readonly string[];
  /** GBNF; models that cannot be held to one leave it aside */
  readonly grammar: string;
  /** another one, another completion, where the model draws at random */
  readonly seed: number;
}

/** Names what was asked and how: provider, model, file hash, temperature. Stands in transcripts; holds no secrets. */
export type ModelDescription = Readonly<Record<string, string>>;

export interface LanguageModel {
  readonly description: ModelDescription;
  /** @throws BaseError MODEL_…, retryable where the same call can succeed later */
  complete(request: CompletionRequest, signal?: AbortSignal): Promise<string>;
  /** Frees what the model holds. */
  close(): Promise<void>;
}

/** Models by the id that agents name. */
export type ModelRegistry = Registry<LanguageModel>;
export const createModelRegistry = (): ModelRegistry => new Registry<LanguageModel>("model");

/** A completion that was cut is not what the model meant to say: an answer may lack its "not". */
export const truncated = (tokens: number): BaseError =>
  new BaseError({
    code: "MODEL_TRUNCATED",
    shortMessage: `The model wrote ${tokens} tokens without coming to an end; what it wrote is not used.`,
    nextStep: "Allow more tokens, or use a model that keeps to the format.",
  });
