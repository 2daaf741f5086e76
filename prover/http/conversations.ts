/** Conversations in the place of a language model's numbers: a model with text takes them as JSON, and answers with text. */
import { BaseError } from "../../base/errors.ts";
import type { Program } from "../../inference/program/form.ts";
import { checkedMessages, type Message } from "../../inference/text/chat.ts";
import type { AnswerText, ModelText } from "../../inference/text/model-text.ts";
import { hasProgram, type ServedModel } from "../models.ts";

interface Conversation {
  readonly program: Program;
  readonly text: ModelText;
  readonly messages: readonly Message[];
}

/** The conversation that a body asks a model with: `messages`, or `text` for one turn of a user, alone in it. A parameter
 *  of the model's function that has such a name comes first.
 *  @returns undefined for a body of arguments by name
 *  @throws BaseError MODEL_WITHOUT_TEXT, MESSAGES_INVALID */
export function messagesOf(
  model: ServedModel,
  values: Readonly<Record<string, unknown>>,
): Conversation | undefined {
  const [name, ...others] = Object.keys(values);
  if (others.length > 0 || model.function.inputs.some((input) => input.name === name)) return undefined;
  const text = hasProgram(model) ? model.text : undefined;
  if (name === "messages" && text === undefined) throw withoutText(model);
  if (!hasProgram(model) || text === undefined || (name !== "messages" && name !== "text")) return undefined;
  const value = name === "text" ? [{ role: "user", content: values.text }] : values.messages;
  return { program: model.prepared.program, text, messages: checkedMessages(value) };
}

/** @param output return data @returns nothing for a model without text */
export const answerOf = (model: ServedModel, output: Uint8Array): AnswerText | undefined =>
  hasProgram(model) ? model.text?.answerOf(output) : undefined;

const withoutText = ({ name, id, function: { inputs } }: ServedModel) =>
  new BaseError({
    code: "MODEL_WITHOUT_TEXT",
    shortMessage: `The model ${name} takes no messages: its folder has no tokenizer.`,
    nextStep: `Send what its function takes: ${inputs.map((input) => input.name).join(", ")}.`,
    details: { model: id },
  });
