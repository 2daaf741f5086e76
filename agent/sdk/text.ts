/** Language models by their text: conversations to what a request asks, answers to text, and a prover that does both.
 *  docs/SDK.md shows how. */
import { type Hex, isHex } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Message } from "../../inference/text/chat.ts";
import type { AnswerText, ModelText } from "../../inference/text/model-text.ts";
import { exchange, type ProverTerms } from "./ask-prover.ts";

export type { Message, Role } from "../../inference/text/chat.ts";
export {
  type AnswerText,
  ModelText,
  type TextLengths,
  textLengths,
} from "../../inference/text/model-text.ts";
export { PieceText } from "../../inference/text/piece-text.ts";
export type { TokenizerFiles } from "../../inference/text/tokenizer-file.ts";
export { textForm } from "../text-values.ts";
export { pieceValues, textValues } from "./prompt-values.ts";

const LONGEST_ANSWER = 1 << 20;

/** An output's text and ids. @param output return data @throws BaseError CALLDATA_NOT_CANONICAL, INT16S_INVALID, ID_UNKNOWN */
export const answerTextOf = (text: ModelText, output: Hex): AnswerText => text.answerOf(fromHex(output));

export interface AskedText extends AnswerText {
  readonly modelId: Hex;
  /** unverified, pending or final */
  readonly status: string;
  readonly request?: Hex;
  readonly claim?: Hex;
  /** return data */
  readonly output: Hex;
  readonly inputHash: Hex;
}

/** Asks a prover for the answer to a conversation. Nothing but its form is checked: the answer is what this prover says, until
 *  `wait` or the chain says more.
 *  @param model its id, or its name at the prover
 *  @throws BaseError with the prover's own code, such as PROMPT_TOO_LONG; PROVER_REFUSED */
export async function askText(
  model: string,
  messages: readonly Message[],
  terms: ProverTerms,
): Promise<AskedText> {
  const { url } = terms;
  const place = `${url.replace(/\/$/, "")}/v1/tools/${encodeURIComponent(model)}`;
  try {
    const sent = new TextEncoder().encode(JSON.stringify({ messages }));
    const asked = { type: "application/json", body: sent, longest: LONGEST_ANSWER };
    const { response, body: read } = await exchange(place, asked, terms);
    const body = new TextDecoder().decode(read);
    if (!response.ok) throw errorIn(body) ?? refused(url, `it answers ${response.status}`);
    return checkedAnswer(JSON.parse(body), model, url);
  } catch (cause) {
    if (cause instanceof BaseError) throw cause;
    throw refused(url, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Of the form that is promised, and of the model that was asked. @throws BaseError PROVER_REFUSED */
function checkedAnswer(value: unknown, model: string, url: string): AskedText {
  const answer = (value ?? {}) as Partial<Record<keyof AskedText, unknown>>;
  const { text, ids, modelId, output, inputHash, status } = answer;
  if (typeof text !== "string" || !Array.isArray(ids) || !ids.every(Number.isSafeInteger))
    throw refused(url, "its answer has no text");
  if (![modelId, output, inputHash].every((each) => isHex(each)) || typeof status !== "string")
    throw refused(url, "its answer does not say which model, output and input it is of");
  if (isHex(model) && (modelId as Hex).toLowerCase() !== model.toLowerCase())
    throw refused(url, `it answers by the model ${modelId}, and ${model} was asked`);
  return answer as AskedText;
}

/** The error that a prover answers. */
function errorIn(body: string): BaseError | undefined {
  try {
    const { error } = JSON.parse(body) as { readonly error?: Record<string, unknown> };
    const { code, message, nextStep, retryable } = error ?? {};
    if (typeof code !== "string" || typeof message !== "string") return undefined;
    const next = typeof nextStep === "string" ? { nextStep } : {};
    return new BaseError({ code, shortMessage: message, ...next, retryable: retryable === true });
  } catch {
    return undefined;
  }
}

const refused = (url: string, why: string, cause?: unknown) =>
  new BaseError({
    code: "PROVER_REFUSED",
    shortMessage: `The prover at ${url} gave no answer: ${why}.`,
    nextStep: "Check the URL, ask again later, or ask another prover.",
    retryable: true,
    cause,
  });
