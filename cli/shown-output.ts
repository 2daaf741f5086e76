/** An output as commands print it: what it means, where the model's manifest says that, and then its values. */
import { fromHex, type Hex } from "../base/bytes.ts";
import { meaningOf, type Reading } from "../inference/meaning/read.ts";
import { answerIfAny } from "../inference/text/data-text.ts";
import { decodeReturn } from "../protocol/rules/abi.ts";
import type { RegisteredModel } from "./model-source.ts";

export interface ShownOutput {
  readonly meaning?: Reading;
  /** of a language model: its answer */
  readonly text?: string;
  /** by name */
  readonly values: Readonly<Record<string, unknown>>;
}

/** A wrong answer that nobody challenged is final, and shown, too: its ids may be no token's.
 *  @throws BaseError OUTPUT_INVALID */
export function showOutput(
  { function: called, readable, text }: Pick<RegisteredModel, "function" | "readable" | "text">,
  output: Hex,
): ShownOutput {
  const bytes = fromHex(output);
  const answer = answerIfAny(text, bytes);
  return {
    ...meaningOf(readable, bytes),
    ...(answer === undefined ? {} : { text: answer.text }),
    values: decodeReturn(called, output),
  };
}

/** Each line of an answer has a bar in front: it looks like nothing that a command says, nor like a value of the output. */
export const outputLines = ({ meaning, text, values }: ShownOutput): readonly string[] => [
  ...(meaning === undefined ? [] : [meaning.text]),
  ...(text === undefined ? [] : text.split("\n").map((line) => `| ${line}`)),
  ...Object.entries(values).map(([name, value]) => `${name} = ${String(value)}`),
];

/** The same in one line. */
export function outputLine({ meaning, values }: ShownOutput): string {
  const numbers = Object.entries(values).map(([name, value]) => `${name} ${String(value)}`);
  return meaning === undefined ? numbers.join(", ") : `${meaning.text}: ${numbers.join(", ")}`;
}
