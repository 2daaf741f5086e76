/** Models behind any endpoint that speaks the OpenAI protocol: hosted ones, vLLM, llama.cpp's server, Ollama. */
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from "openai";
import { BaseError } from "../../../base/errors.ts";
import { quote } from "../tool.ts";
import { aborted, type CompletionRequest, type LanguageModel, truncated } from "./language-model.ts";

export interface OpenAiOptions {
  /** with its version path: `http://127.0.0.1:8080/v1` */
  readonly baseUrl: string;
  /** name of the model at the endpoint */
  readonly model: string;
  /** from the environment; absent where the endpoint asks for none */
  readonly apiKey?: string | undefined;
  readonly temperature: number;
  readonly maxTokens: number;
  /** of one request */
  readonly timeoutMs: number;
  /** further requests after a fault of the network; refusals are never tried again here */
  readonly retries?: number;
}

const RETRY_PAUSE_MS = 250;

export class OpenAiModel implements LanguageModel {
  readonly description: LanguageModel["description"];
  readonly #client: OpenAI;
  readonly #options: OpenAiOptions;

  constructor(options: OpenAiOptions) {
    this.#options = options;
    this.#client = new OpenAI({
      baseURL: options.baseUrl,
      apiKey: options.apiKey ?? "none",
      timeout: options.timeoutMs,
      maxRetries: 0,
      // Nothing of ours in the process's environment but the key that was handed in.
      organization: null,
      project: null,
      logLevel: "off",
    });
    this.description = {
      provider: "openai",
      endpoint: new URL(options.baseUrl).origin,
      model: options.model,
      temperature: `${options.temperature}`,
      maxTokens: `${options.maxTokens}`,
    };
  }

  async complete(request: CompletionRequest, signal?: AbortSignal): Promise<string> {
    for (let left = this.#options.retries ?? 2; ; left--) {
      try {
        return await this.#ask(request, signal);
      } catch (error) {
        if (left === 0 || !isNetworkFault(error)) throw this.#fault(error);
        await sleep(RETRY_PAUSE_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {
          throw aborted();
        });
      }
    }
  }

  async close(): Promise<void> {}

  async #ask({ prompt, stop, seed }: CompletionRequest, signal?: AbortSignal): Promise<string> {
    const { model, temperature, maxTokens } = this.#options;
    const reply = await this.#client.chat.completions.create(
      {
        model,
        messages: [{ role: "user", content: prompt }],
        stop: [...stop],
        seed,
        temperature,
        max_tokens: maxTokens,
      },
      signal === undefined ? {} : { signal },
    );
    // The endpoint is anybody's: it need not answer as the protocol says.
    const choice = reply?.choices?.[0];
    const text: unknown = choice?.message?.content;
    if (choice?.finish_reason === "length") throw truncated(maxTokens);
    if (typeof text === "string" && text !== "") return text;
    throw new BaseError({
      code: "MODEL_EMPTY",
      shortMessage: `The model ${quote(model)} answered without text (it ended by ${quote(String(choice?.finish_reason))}).`,
      nextStep: "Let it try again, or use another model.",
    });
  }

  #fault(error: unknown): BaseError {
    if (error instanceof BaseError) return error;
    if (error instanceof APIUserAbortError) return aborted();
    const where = `the model ${quote(this.#options.model)} at ${this.description.endpoint}`;
    if (error instanceof APIConnectionTimeoutError) {
      return new BaseError({
        code: "MODEL_TIMEOUT",
        shortMessage: `There was no answer from ${where} within ${this.#options.timeoutMs} ms.`,
        nextStep: "Try again, or allow more time.",
        retryable: true,
      });
    }
    if (error instanceof APIConnectionError) {
      return new BaseError({
        code: "MODEL_UNREACHABLE",
        shortMessage: `Could not reach ${where}.`,
        nextStep: "Check that something listens there.",
        retryable: true,
      });
    }
    const status = error instanceof APIError ? error.status : undefined;
    // The causes are left out: they hold the request's headers, and some endpoints repeat the key in their message.
    return new BaseError({
      code: status === 401 || status === 403 ? "MODEL_KEY_REFUSED" : "MODEL_REFUSED",
      shortMessage: `A request to ${where} failed${status === undefined ? "" : ` with HTTP status ${status}`}.`,
      nextStep:
        status === 401 || status === 403
          ? "Set the right key in the environment."
          : "Read the endpoint's log; check its name of the model.",
      retryable: status === undefined || status === 429 || status >= 500,
    });
  }
}

const isNetworkFault = (error: unknown): boolean =>
  error instanceof APIConnectionError && !(error instanceof APIConnectionTimeoutError);
