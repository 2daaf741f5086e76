/** Conversations in the place of a language model's numbers: a model with text takes them as JSON, and answers with text. */
import { BaseError, isBaseError } from "../../base/errors.ts";
import type { Program } from "../../inference/program/form.ts";
import { checkedMessages, type Message } from "../../inference/text/chat.ts";
import { conversationIn } from "../../inference/text/conversation.ts";
import type { AnswerText, ModelText } from "../../inference/text/model-text.ts";
import { hasProgram, type ServedModel } from "../models.ts";

interface Conversation {
  readonly program: Program;
  readonly text: ModelText;
  readonly messages: readonly Message[];
}

/** The conversation that a body asks a model with.
 *  @returns undefined for a body of arguments by name
 *  @throws BaseError MODEL_WITHOUT_TEXT, MESSAGES_INVALID */
export function messagesOf(
  model: ServedModel,
  values: Readonly<Record<string, unknown>>,
): Conversation | undefined {
  const asked = conversationIn(values, model.function.inputs);
  if (asked === undefined) return undefined;
  if (hasProgram(model) && model.text !== undefined) {
    const messages = checkedMessages(asked.messages);
    return { program: model.prepared.program, text: model.text, messages };
  }
  if (asked.name === "messages") throw withoutText(model);
  return undefined;
}

/** @param output return data @returns nothing for a model without text, and for ids that no token of its folder has: the
 *  output is right, and may be signed by now, whatever the tokenizer is */
export function answerOf(model: ServedModel, output: Uint8Array): AnswerText | undefined {
  try {
    return hasProgram(model) ? model.text?.answerOf(output) : undefined;
  } catch (error) {
    if (isBaseError(error, "ID_UNKNOWN")) return undefined;
    throw error;
  }
}

const withoutText = ({ name, id, function: { inputs } }: ServedModel) =>
  new BaseError({
    code: "MODEL_WITHOUT_TEXT",
    shortMessage: `The model ${name} takes no messages: its folder has no tokenizer of a language model.`,
    nextStep: `Send what its function takes: ${inputs.map((input) => input.name).join(", ")}.`,
    details: { model: id },
  });
