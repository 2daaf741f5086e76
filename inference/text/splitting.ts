/** How a text is split into words before byte-pair encoding, by the name that a GGUF file has for it. */

/** Contractions, letters, digits and other characters, each with a space in front; white space. Source: GPT-2. */
const WORDS = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
/** Each digit is a word. */
const DIGIT = String.raw`\p{N}`;

const RULES: Readonly<Record<string, readonly string[]>> = { "gpt-2": [WORDS], smollm: [DIGIT, WORDS] };

export const SPLITTING_NAMES = Object.keys(RULES);

/** In the form of a tokenizer.json. @returns undefined for a name that is none of SPLITTING_NAMES */
export function splittingOf(name: string): object | undefined {
  if (!Object.hasOwn(RULES, name)) return undefined;
  const splits = RULES[name]?.map((Regex) => ({
    ...{ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false },
  }));
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
  return { type: "Sequence", pretokenizers: [...(splits ?? []), bytes] };
}
