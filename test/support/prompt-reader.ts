/** Reads a prompt as somebody who believes every line that looks like a label of the form. */

const BREAKS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/u;
const HIDDEN = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;
const LABELS =
  /^[\s>*#`_\-\d.()]*(question|thought|action input|action|observation|final answer|begin)\s*[*`_]*\s*[:!]/iu;

export interface LabelledLine {
  /** small letters */
  readonly label: string;
  readonly line: string;
}

/** Lines with a label, in order. Lines that the prompt marks as data, by `|` or a backslash, are passed over. */
export function labelledLines(prompt: string): LabelledLine[] {
  return prompt.split(BREAKS).flatMap((line): LabelledLine[] => {
    if (/^\s*[|\\]/.test(line)) return [];
    const read = line.replace(HIDDEN, "").normalize("NFKC").replace(/\s+/gu, " ");
    const label = LABELS.exec(read)?.[1]?.toLowerCase();
    return label === undefined ? [] : [{ label, line }];
  });
}
