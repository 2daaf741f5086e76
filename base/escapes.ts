/** Characters that are not shown as they are. */

/** A character in the form `\u{202e}`. */
export const codePointEscape = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** One of 16 bits as JSON escapes it, in the form `\u202e`. */
export const codeUnitEscape = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
