/** Where an answer differs from the right one, so that a reader can go and look. */
import type { Case } from "./case.ts";
import { type Answer, type Line, renderAnswer } from "./lines.ts";

export interface Difference {
  readonly line: Line;
  readonly expected: string;
  readonly found: string;
  /** for people: what is wrong, and where */
  readonly what: string;
}

/** Bytes that a report shows of a long word. */
const SHOWN = 16;

export function differenceOf({ line, expected, parts }: Case, found: Answer): Difference | undefined {
  const what = whatDiffers(expected, found, parts);
  return what === undefined
    ? undefined
    : { line, expected: renderAnswer(expected), found: renderAnswer(found), what };
}

function whatDiffers(expected: Answer, found: Answer, parts?: readonly string[]): string | undefined {
  if (expected === "refused") return found === "refused" ? undefined : "it is taken, and must be refused";
  if (found === "refused") return "it is refused, and must be taken";
  if (found.length !== expected.length) return `${found.length} words, right are ${expected.length}`;
  const wrong = expected.flatMap((word, i) => (word === found[i] ? [] : [i]));
  // Roots follow from tensors, and the return data from the last one: what is computed first tells more.
  const at = wrong.find((i) => parts?.[i]?.startsWith("step ")) ?? wrong[0];
  if (at === undefined) return undefined;
  return `${parts?.[at] ?? `word ${at}`}${placeOf(expected[at] as string, found[at] as string)}`;
}

function placeOf(expected: string, found: string): string {
  const [right, length] = [expected.length / 2 - 1, found.length / 2 - 1];
  if (length !== right) return `: ${length} bytes, right are ${right}`;
  const digit = [...expected].findIndex((character, i) => character !== found[i]);
  const byte = Math.floor(digit / 2) - 1;
  const some = (text: string): string => text.slice(2 + 2 * byte, 2 + 2 * (byte + SHOWN));
  return `, byte ${byte} of ${right} on: ${some(found)}, right is ${some(expected)}`;
}
