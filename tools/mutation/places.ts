/** Places in a source where other code can stand, and the brackets around them. */

/** A place where other code can stand: `condition` is what `if`, `while` or `for` test, `value` what a declaration
 *  assigns, `statement` a whole statement with its semicolon; in assembly `test` is what `if` or `for` test, and
 *  `assignment` and `call` are whole statements. Ends are exclusive. */
export interface Place {
  readonly kind: "condition" | "value" | "statement" | "test" | "assignment" | "call";
  readonly start: number;
  readonly end: number;
}

export const OPEN = "([{";
const CLOSE = ")]}";

/** Position of the bracket that closes the one at `open`. */
export function closing(code: string, open: number): number {
  let depth = 0;
  for (let i = open; i < code.length; i++) {
    if (OPEN.includes(code[i] as string)) depth++;
    else if (CLOSE.includes(code[i] as string) && --depth === 0) return i;
  }
  return code.length;
}
