/** Conversations in the place of a language model's numbers, as callers give them. */

export interface Asked {
  readonly name: "messages" | "text";
  /** as it came: `checkedMessages` reads it */
  readonly messages: unknown;
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
