/** Texts and conversations in the place of a model's numbers, as callers give them. */
import { shownValue } from "../../base/json.ts";
import { fail } from "../onnx/fail.ts";

export interface Asked {
  readonly name: "messages" | "text";
  /** as it came: `checkedMessages` reads it */
  readonly messages: unknown;
}

/** The text that arguments ask a classifier with: `text`, alone in them.
 *  @returns undefined for arguments by name @throws TEXT_INVALID for another value than a text */
export function textIn(
  values: Readonly<Record<string, unknown>>,
  parameters: Parameters<typeof conversationIn>[1],
): string | undefined {
  const asked = conversationIn(values, parameters);
  if (asked?.name !== "text") return undefined;
  if (typeof values.text === "string") return values.text;
  throw fail("TEXT_INVALID", `text is ${shownValue(values.text)}, must be a text.`, 'Send {"text": "…"}.');
}

/** What arguments ask a language model with: `messages`, or `text` for one turn of a user, alone in them. A parameter of the
 *  model's function that has such a name comes first.
 *  @returns undefined for arguments by name */
export function conversationIn(
  values: Readonly<Record<string, unknown>>,
  parameters: readonly { readonly name?: string | undefined }[],
): Asked | undefined {
  const [name, ...others] = Object.keys(values);
  if (others.length > 0 || parameters.some((parameter) => parameter.name === name)) return undefined;
  if (name === "text") return { name, messages: [{ role: "user", content: values.text }] };
  return name === "messages" ? { name, messages: values.messages } : undefined;
}
