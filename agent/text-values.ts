/** A model as an agent calls it, in text where its folder has a tokenizer: a language model takes a conversation and gives its
 *  answer's text, a classifier by word pieces takes a text; any other model, and every one by name, as plain-values.ts says.
 *  What is asked and claimed stays ids. */
import { fromHex, type Hex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { meaningOf, type Reading } from "../inference/meaning/read.ts";
import { checkedMessages, ROLES } from "../inference/text/chat.ts";
import { conversationIn, textIn } from "../inference/text/conversation.ts";
import { answerIfAny } from "../inference/text/data-text.ts";
import type { FolderText } from "../inference/text/folder-text.ts";
import type { ModelText } from "../inference/text/model-text.ts";
import { PieceText } from "../inference/text/piece-text.ts";
import { decodeReturn } from "../protocol/rules/abi.ts";
import {
  abiValuesOf,
  argumentSchema,
  type Callable,
  plainOutputOf,
  requireArguments,
} from "./plain-values.ts";
import type { Model, Values } from "./sdk/model.ts";
import { pieceValues, textValues } from "./sdk/prompt-values.ts";
import type { ToolForm } from "./sdk/tool.ts";

type Json = Readonly<Record<string, unknown>>;

/** A model with the text of its folder, if that has some. */
export type TextCallable = Callable & FolderText;

/** JSON Schema of the arguments that an agent is told of. */
export function toolSchema(model: TextCallable): Json {
  const properties = textProperties(model);
  if (Object.keys(properties).length === 0) return argumentSchema(model);
  return { type: "object", properties, minProperties: 1, maxProperties: 1, additionalProperties: false };
}

/** What a model is asked with in text, without what its function's own parameters are called. */
function textProperties({
  function: { inputs },
  text,
  pieces,
}: TextCallable): Readonly<Record<string, Json>> {
  const isOwn = (name: string) => inputs.some((input) => input.name === name);
  const all = {
    // One that was not trained on conversations is asked with ids.
    ...(text?.tokenizer.parts.template === undefined ? {} : conversationProperties(text.lengths.prompt)),
    ...(pieces === undefined ? {} : { text: textProperty(pieces.length) }),
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isOwn(name)));
}

/** @param most ids */
const conversationProperties = (most: number): Readonly<Record<string, Json>> => ({
  messages: {
    type: "array",
    minItems: 1,
    description: `the conversation; at most ${most} ids with what the chat template adds`,
    items: {
      type: "object",
      properties: { role: { type: "string", enum: ROLES }, content: { type: "string" } },
      required: ["role", "content"],
      additionalProperties: false,
    },
  },
  text: { type: "string", description: "in the place of messages: what a user says, one turn" },
});

const textProperty = (most: number): Json => ({
  type: "string",
  description: `at most ${most} ids of word pieces, the first and the last token among them`,
});

/** The values of the function's parameters.
 *  @throws BaseError as `askedValues` and `abiValuesOf`; INPUTS_INVALID naming what is not known, and what to give */
export function toolValues(model: TextCallable, args: Values): Values {
  requireArguments(model, args);
  // A classifier's tensor of ids is called text.
  const own = Object.keys(argumentSchema(model).properties as Json);
  if (own.some((name) => Array.isArray(args[name]))) return abiValuesOf(model, args);
  const asked = askedValues(model, args);
  if (asked !== undefined) return asked;
  const names = Object.keys(textProperties(model));
  if (names.length === 0) return abiValuesOf(model, args);
  throw notText(Object.keys(args), names);
}

/** The same of a text or a conversation.
 *  @returns undefined for arguments by name, and of a model without text
 *  @throws BaseError as `textIn`, `checkedMessages`, `ModelText.prompt` and `PieceText.int16s` */
export function askedValues(model: Pick<TextCallable, "function"> & FolderText, args: Values) {
  const { function: called, text, pieces } = model;
  if (pieces !== undefined) {
    const asked = textIn(args, called.inputs);
    return asked === undefined ? undefined : pieceValues(model, pieces, asked);
  }
  if (text === undefined) return undefined;
  const asked = conversationIn(args, called.inputs);
  return asked === undefined ? undefined : textValues(model, text, checkedMessages(asked.messages));
}

/** What an output says to an agent. */
export interface ToolOutput {
  readonly data: unknown;
  /** what it says, by the model's manifest */
  readonly meaning?: Reading;
  /** of a language model: what is claimed, of which the text of `data` is derived */
  readonly ids?: readonly number[];
}

/** @param output return data @throws BaseError OUTPUT_INVALID */
export function toolOutput(model: TextCallable, output: Hex): ToolOutput {
  const bytes = fromHex(output);
  const answer = answerIfAny(model.text, bytes);
  const read = meaningOf(model.readable, bytes);
  if (answer === undefined) {
    return { data: plainOutputOf(model, decodeReturn(model.function, output)), ...read };
  }
  return { data: { text: answer.text }, ...read, ids: answer.ids };
}

/** The form of `finalTool` in text. @param text of the model's folder: its conversations, or its word pieces
 *  @throws BaseError TEXT_MISMATCH where it was opened for a model of another length, which would answer no request */
export function textForm(model: Model, text: ModelText | PieceText): ToolForm {
  const length = text instanceof PieceText ? text.length : text.lengths.prompt;
  if (length !== model.word.inputSize) throw otherLength(length, model.word.inputSize);
  const called: TextCallable = { ...model, ...(text instanceof PieceText ? { pieces: text } : { text }) };
  return {
    parameters: toolSchema(called),
    valuesOf: (args) => toolValues(called, args),
    outputOf(output) {
      const { data, ...read } = toolOutput(called, output);
      return { values: data, ...read };
    },
  };
}

const otherLength = (length: number, expected: number) =>
  new BaseError({
    code: "TEXT_MISMATCH",
    shortMessage: `The text was opened for inputs of ${length} ids, the model has ${expected}.`,
    nextStep: "Open it with the lengths of this model's manifest: `textLengths(manifest.assay)`.",
    details: { length, limit: expected },
  });

const MOST_NAMES = 8;

const shownNames = (names: readonly string[]): string => {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const shown = names.slice(0, MOST_NAMES).map((name) => JSON.stringify(name.slice(0, 60)));
  return `${shown.join(", ") || "none"}${more}`;
};

const notText = (given: readonly string[], names: readonly string[]) =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: `The arguments are ${shownNames(given)}, must be ${names.join(" or ")}, one alone.`,
    nextStep: `Give a JSON object with ${names.join(" or ")}.`,
  });
