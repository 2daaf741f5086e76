/** Text that others wrote, as a terminal shows it: a model's answer, what a prover says, names in a file. */

import { codePointEscape, codeUnitEscape } from "../base/escapes.ts";

/** Controls, by which a terminal writes over what stands there, and what turns the direction of writing. */
const COMMANDS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** With such characters in the form `\u{1b}`. Part by part the same as the whole. */
export const terminalText = (text: string): string => text.replace(COMMANDS, codePointEscape);

/** JSON with such characters as JSON escapes them: it says the same. */
export const terminalJson = (json: string): string => json.replace(COMMANDS, codeUnitEscape);
