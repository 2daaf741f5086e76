/** Text that others wrote, made fit to stand in a prompt: whatever it holds, it cannot begin a line of the prompt, so it
 *  cannot forge a thought, an action, an observation or an answer. */

import { codePointEscape, codeUnitEscape } from "../../../base/escapes.ts";

/** Everything that some reader takes for the end of a line. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/u;
/** Characters without a look of their own: they hide text from people, or labels from checks. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;
/** A label of the form, however it is dressed up: list marks, quotes, bold, odd spaces, wide colons. */
const LABEL =
  /^[^\p{L}]*(question|thought|action|action\s*input|observation|final\s*answer)[^\p{L}\p{N}]*:/iu;
const BEGIN = /^[^\p{L}]*begin\s*!/iu;
/** Marks by which chat templates divide the speakers. */
const TEMPLATE_MARK = /(?<!\\)(?:<(?=\||\/?s>|start_of_turn|end_of_turn)|\[(?=\/?INST\]))/g;

/** What it gives, it leaves as it is when given it again, line by line.
 *  @returns one line, or several of which each but the first begins with `| `; lines that look like a label of the
 *  prompt begin with a backslash, as do marks of chat templates; invisible characters are written as \u{…} */
export function insertedText(text: string): string {
  return text.split(LINE_BREAK).map(insertedLine).join("\n| ");
}

function insertedLine(line: string): string {
  const visible = line.replace(INVISIBLE, (found) => (found === "\t" ? " " : codePointEscape(found)));
  const plain = visible.replace(TEMPLATE_MARK, (found) => `\\${found}`);
  return looksLikeLabel(line) && !plain.startsWith("\\") ? `\\${plain}` : plain;
}

/** Judged as somebody reads it: without what is invisible, wide letters as narrow ones, accents removed. */
function looksLikeLabel(line: string): boolean {
  const narrow = [" ", ""].map((blank) => line.replace(INVISIBLE, blank).normalize("NFKD"));
  const forms = narrow.map((form) => form.replace(/\p{M}/gu, "").replace(/\u0131/gu, "i"));
  return forms.some((form) => LABEL.test(form) || BEGIN.test(form));
}

/** JSON on one line that `insertedText` leaves as it is: the same value, its odd characters escaped. */
export function insertedJson(value: unknown): string {
  const escaped = (found: string) => found.split("").map(codeUnitEscape).join("");
  return JSON.stringify(value).replace(INVISIBLE, escaped).replace(TEMPLATE_MARK, escaped);
}
