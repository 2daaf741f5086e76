/** The model's side: any endpoint that speaks OpenAI's chat completions with function calling, streamed. */
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { abortAfter } from "../../base/abort.ts";
import { BaseError } from "../../base/errors.ts";
import type { ToolDefinition } from "./tool.ts";

export interface ModelEndpoint {
  /** ends before `/chat/completions` */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string;
}

export interface ModelLimits {
  /** ms of one answer */
  readonly modelTimeoutMs: number;
  /** most characters of one answer, text and arguments together */
  readonly maxAnswerChars: number;
  /** most calls in one answer; further ones are left out */
  readonly maxCallsPerAnswer: number;
  /** most tokens that are asked for */
  readonly maxTokens: number;
}

export interface RequestedCall {
  /** as the model wrote it */
  readonly toolName: string;
  /** as the model wrote them */
  readonly rawArguments: string;
}

export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export type ChatMessage = ChatCompletionMessageParam;

export interface ModelRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** false: the model must answer now */
  readonly mayCall: boolean;
  readonly signal: AbortSignal;
}

export class LlmService {
  readonly #client: OpenAI;
  readonly #model: string;
  readonly #limits: ModelLimits;

  constructor({ baseUrl, model, apiKey }: ModelEndpoint, limits: ModelLimits) {
    this.#client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 1, timeout: limits.modelTimeoutMs });
    this.#model = model;
    this.#limits = limits;
  }

  /** One answer of the model, whole: nothing of it may leave before it was judged.
   *  @throws BaseError MODEL_FAILED (retryable), MODEL_ANSWER_TOO_LONG, MODEL_ANSWER_INCOMPLETE, CANCELLED */
  async answer({ messages, tools, mayCall, signal }: ModelRequest): Promise<ModelAnswer> {
    const { modelTimeoutMs, maxTokens } = this.#limits;
    const limited = abortAfter(modelTimeoutMs, signal);
    try {
      const stream = await this.#client.chat.completions.create(
        {
          model: this.#model,
          messages: [...messages],
          stream: true,
          stream_options: { include_usage: true },
          max_completion_tokens: maxTokens,
          tools: tools.map(({ name, description, parameters }) => ({
            type: "function" as const,
            function: { name, description, parameters: { ...parameters } },
          })),
          tool_choice: mayCall ? "auto" : "none",
        },
        { signal: limited },
      );
      const answer = await this.#collect(stream);
      // The client ends a stream that is aborted as if it were complete.
      limited.throwIfAborted();
      return answer;
    } catch (error) {
      if (signal.aborted) throw cancelled(error);
      if (error instanceof BaseError) throw error;
      throw failed(error);
    }
  }

  async #collect(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<ModelAnswer> {
    const { maxAnswerChars, maxCallsPerAnswer } = this.#limits;
    const calls = new Map<number, { toolName: string; rawArguments: string }>();
    let [text, size, promptTokens, completionTokens] = ["", 0, 0, 0];
    let reason: string | undefined;
    for await (const { choices, usage } of stream) {
      promptTokens = usage?.prompt_tokens ?? promptTokens;
      completionTokens = usage?.completion_tokens ?? completionTokens;
      const delta = choices?.[0]?.delta;
      reason = choices?.[0]?.finish_reason ?? reason;
      if (typeof delta?.content === "string") text += delta.content;
      size += delta?.content?.length ?? 0;
      for (const { index, function: part } of delta?.tool_calls ?? []) {
        size += (part?.name?.length ?? 0) + (part?.arguments?.length ?? 0);
        let call = calls.get(index);
        if (call === undefined && calls.size < maxCallsPerAnswer) {
          call = { toolName: "", rawArguments: "" };
          calls.set(index, call);
        }
        if (call === undefined) continue;
        call.toolName += part?.name ?? "";
        call.rawArguments += part?.arguments ?? "";
      }
      if (size > maxAnswerChars) throw tooLong(maxAnswerChars);
    }
    // Half an answer could say the opposite of the whole.
    if (reason === undefined || reason === "length") throw incomplete(reason);
    return { text, calls: [...calls.values()], promptTokens, completionTokens };
  }
}

const tooLong = (limit: number) =>
  new BaseError({
    code: "MODEL_ANSWER_TOO_LONG",
    shortMessage: `The model's answer has more than ${limit} characters.`,
    nextStep: "Ask for less at once.",
    details: { limit },
  });

const incomplete = (reason: string | undefined) =>
  new BaseError({
    code: "MODEL_ANSWER_INCOMPLETE",
    shortMessage: `The model's answer broke off${reason === undefined ? "" : ": it reached the limit of tokens"}.`,
    nextStep: "Raise maxTokens, or ask for less at once.",
  });

const cancelled = (cause: unknown) =>
  new BaseError({
    code: "CANCELLED",
    shortMessage: "The turn ended before the model answered.",
    nextStep: "Ask again.",
    cause,
  });

const failed = (cause: unknown) =>
  new BaseError({
    code: "MODEL_FAILED",
    shortMessage: "The model's endpoint could not be asked.",
    nextStep: "Try again later.",
    retryable: true,
    cause,
  });
