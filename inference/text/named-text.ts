/** The text of ids for readers, with control tokens by their names. A text that says such a name reads the same: the ids tell
 *  the two apart. */
import type { StreamDecoder } from "./detokenizer.ts";

/** @param parts of the tokenizer: what each id says, and which ones no text becomes
 *  @param space in front of a name @throws ID_UNKNOWN */
export function namedText(
  ids: readonly number[],
  decoder: StreamDecoder,
  { tokens, control }: { readonly tokens: readonly string[]; readonly control: readonly number[] },
  space = "",
): string {
  const isControl = new Set(control);
  const parts = ids.map((id) => {
    const text = decoder.next(id);
    return isControl.has(id) ? `${text}${space}${tokens[id]}` : text;
  });
  return parts.join("") + decoder.end();
}
