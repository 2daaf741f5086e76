/** AI Generate: text of a language model, the same for the same calldata (specs/003, lines 405-439).
 *
 *  Temperature 0 and a fixed seed make a model deterministic only as far as its server keeps to them. So the first
 *  answer to a calldata is kept, and given again: what was answered once never changes. That says nothing about whether
 *  the answer is right; it is the word of whoever runs this agent. */
import OpenAI, { APIError } from "openai";
import { keccak256 } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { CallContext, MethodHandlers } from "../../http/app.ts";
import type { Environment } from "../../http/environment.ts";
import { AnswerStore } from "./answer-store.ts";

export interface TextGenerationOptions {
  /** with its version path: `http://127.0.0.1:8080/v1` */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** SQLite file of the answers; ":memory:" forgets them */
  readonly answers: string;
  readonly maxTokens?: number;
}

interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

const ROLES: readonly string[] = ["system", "user", "assistant"];
const SEED = 7;

export function textGeneration(options: TextGenerationOptions): MethodHandlers {
  const client = new OpenAI({
    baseURL: options.baseUrl,
    apiKey: options.apiKey ?? "none",
    organization: null,
    project: null,
    maxRetries: 1,
    logLevel: "off",
  });
  const answers = new AnswerStore(options.answers);
  const ask = async (messages: readonly Message[], { calldata, signal }: CallContext) => [
    await answers.of(keccak256(calldata), () => complete(client, options, messages, signal)),
  ];
  return {
    generate: ([prompt], context) => ask([{ role: "user", content: prompt as string }], context),
    chat: ([messages, roles], context) => ask(conversation(messages as string[], roles as string[]), context),
  };
}

/** ASSAY_AGENT_MODEL_URL, ASSAY_AGENT_MODEL, ASSAY_AGENT_MODEL_KEY, ASSAY_AGENT_ANSWERS. */
export function createHandlers(environment: Environment): MethodHandlers {
  const { ASSAY_AGENT_MODEL_URL: baseUrl, ASSAY_AGENT_MODEL: model } = environment;
  if (baseUrl === undefined || model === undefined) {
    throw new BaseError({
      code: "CONFIG_INVALID",
      shortMessage: "There is no model to generate text with.",
      nextStep: "Set ASSAY_AGENT_MODEL_URL and ASSAY_AGENT_MODEL.",
    });
  }
  return textGeneration({
    baseUrl,
    model,
    apiKey: environment.ASSAY_AGENT_MODEL_KEY,
    answers: environment.ASSAY_AGENT_ANSWERS ?? "answers.sqlite",
  });
}

/** @throws BaseError CHAT_INVALID */
function conversation(messages: readonly string[], roles: readonly string[]): Message[] {
  const unknown = roles.find((role) => !ROLES.includes(role));
  const fault =
    messages.length !== roles.length
      ? `There are ${messages.length} messages and ${roles.length} roles.`
      : messages.length === 0
        ? "There is no message."
        : unknown !== undefined
          ? `${JSON.stringify(unknown.slice(0, 40))} is no role.`
          : undefined;
  if (fault === undefined) {
    return messages.map((content, i) => ({ role: roles[i] as Message["role"], content }));
  }
  throw new BaseError({
    code: "CHAT_INVALID",
    shortMessage: fault,
    nextStep: `Give each message one role of ${ROLES.join(", ")}.`,
  });
}

async function complete(
  client: OpenAI,
  { model, maxTokens = 1_024 }: TextGenerationOptions,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<string> {
  try {
    const body = { model, messages: [...messages], temperature: 0, seed: SEED, max_tokens: maxTokens };
    const reply = await client.chat.completions.create(body, { signal });
    const choice = reply?.choices?.[0];
    const text: unknown = choice?.message?.content;
    if (choice?.finish_reason === "length") throw generationFailed("the answer was cut");
    if (typeof text === "string" && !/\p{Surrogate}/u.test(text)) return text;
    throw generationFailed("there was no text");
  } catch (error) {
    if (error instanceof BaseError) throw error;
    const status = error instanceof APIError && error.status !== undefined ? ` (HTTP ${error.status})` : "";
    // The cause is left out: it holds the request's headers.
    throw generationFailed(`the endpoint gave none${status}`);
  }
}

const generationFailed = (why: string) =>
  new BaseError({
    code: "GENERATION_FAILED",
    shortMessage: `The model gave no answer to keep: ${why}.`,
    nextStep: "Ask again later.",
    retryable: true,
  });
