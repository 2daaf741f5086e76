/** Texts with one slip in them, for checks that have to find it. */

/** @throws Error where there is no such place */
export function withEdit(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`The text to edit is absent: ${from}`);
  return text.replace(from, () => to);
}

/** What a check finds, or why it could not read. */
export function findings(check: () => readonly string[]): string {
  try {
    return check().join("\n");
  } catch (error) {
    return (error as Error).message;
  }
}
