/** Cases: a line, and the one answer that is right. */
import type { Answer, Line, LineName } from "./lines.ts";

export interface Case {
  readonly line: Line;
  readonly expected: Answer;
  /** what each word of the answer is, for reports */
  readonly parts?: readonly string[];
  /** compared elements: a tensor's, and one for each other word, or for a refusal */
  readonly elements: number;
}

/** A part of the specification, with as many cases as are asked for. */
export interface Area {
  readonly name: string;
  readonly about: string;
  /** lines that its cases ask */
  readonly lines: readonly LineName[];
  /** part of a run's elements; the rest of the areas have a fixed number of cases */
  readonly share?: number;
  /** The cases of one seed: the same seed gives the same. */
  cases(seed: number): Iterable<Case>;
}

/** A case whose words count one each. */
export function wordCase(line: Line, expected: Answer, parts?: readonly string[]): Case {
  const elements = expected === "refused" ? 1 : Math.max(1, expected.length);
  return parts === undefined ? { line, expected, elements } : { line, expected, elements, parts };
}

/** A case of what is taken or refused: an Error of this project refuses. */
export const refusedCase = (line: Line): Case => ({ line, expected: "refused", elements: 1 });
