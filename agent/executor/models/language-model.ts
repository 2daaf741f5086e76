/** What an executor needs of a language model. */
import type { Hex } from "viem";
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

/** Provider of exact models, in their description. */
export const EXACT_PROVIDER = "exact";

/** Of a model that writes the same for the same prompt, on every machine and whatever the seed. */
export interface Exactness {
  /** keccak256 of the calldata with which anybody can claim its output for this prompt
   *  @throws BaseError PROMPT_TOO_LONG and others where it does not take the prompt */
  inputHash(prompt: string): Hex;
}

export interface LanguageModel {
  readonly description: ModelDescription;
  /** absent: another completion can follow the same prompt */
  readonly exact?: Exactness;
  /** @throws BaseError MODEL_…, retryable where the same call can succeed later */
  complete(request: CompletionRequest, signal?: AbortSignal): Promise<string>;
  /** Frees what the model holds. */
  close(): Promise<void>;
}

/** What a transcript says of a model that was asked this. */
export const descriptionFor = ({ description, exact }: LanguageModel, prompt: string): ModelDescription =>
  exact === undefined ? description : { ...description, inputHash: exact.inputHash(prompt) };

/** Models by the id that agents name. */
export type ModelRegistry = Registry<LanguageModel>;
export const createModelRegistry = (): ModelRegistry => new Registry<LanguageModel>("model");

/** A completion that was cut is not what the model meant to say: an answer may lack its "not". */
export const truncated = (tokens: number, how = "Allow more tokens"): BaseError =>
  new BaseError({
    code: "MODEL_TRUNCATED",
    shortMessage: `The model wrote ${tokens} tokens without coming to an end; what it wrote is not used.`,
    nextStep: `${how}, or use a model that keeps to the format.`,
  });

export const aborted = (): BaseError =>
  new BaseError({
    code: "MODEL_ABORTED",
    shortMessage: "The request to the model was stopped.",
    retryable: true,
  });
