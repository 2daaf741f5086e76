import { codePointEscape } from "../../../base/escapes.ts";

/** Controls, format characters (those of direction and of no width among them), line separators, fillers, private use. */
const INVISIBLE =
  /(?![\n\t]|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A run of text as it is, or one character that would not be seen, in the form `\u{202e}`. */
export interface Run {
  readonly text: string;
  readonly isControl: boolean;
}

/** Text of strangers in runs: what is invisible or turns the direction of writing stands for itself. */
export function visibleRuns(text: string): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (match.index > from) runs.push({ text: text.slice(from, match.index), isControl: false });
    runs.push({ text: codePointEscape(match[0]), isControl: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) runs.push({ text: text.slice(from), isControl: false });
  return runs;
}

/** The same as one string, for titles and attributes. */
export const visible = (text: string): string => text.replace(INVISIBLE, codePointEscape);
