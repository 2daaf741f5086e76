/** Runs a derived language model on a conversation: the answer's text while its ids are found, and what a claim of it has. */
import { encodeInput } from "../codecs/input.ts";
import { decodeOutput } from "../codecs/output.ts";
import { findOutput } from "../executor/find-output.ts";
import type { PreparedModel } from "../executor/prepared-model.ts";
import { answerIds } from "./ids.ts";
import type { AnswerText, ModelText, Prompt } from "./model-text.ts";

export interface TextRun extends AnswerText {
  readonly calldata: Uint8Array;
  /** return data */
  readonly output: Uint8Array;
}

/** @param onText gets the answer's text in parts, each as soon as it is found; together they are its text. A program that is
 *  not run row by row gives it at once
 *  @throws as `findOutput` */
export function runText(
  prepared: PreparedModel,
  text: ModelText,
  { int16s }: Prompt,
  onText: (part: string) => void,
): TextRun {
  const { program, selector } = prepared;
  const input = { codec: "int16s", int16s } as const;
  const decoder = text.tokenizer.decoder();
  const numbersOf = (output: Uint8Array): ArrayLike<number> => decodeOutput(program, output).data;
  let given = "";
  const give = (part: string): void => {
    given += part;
    if (part !== "") onText(part);
  };
  const output = findOutput(prepared, input, (row, found) => {
    const [id] = answerIds([numbersOf(found)[row] as number]);
    if (id !== undefined) give(decoder.next(id));
  });
  give(decoder.end());
  const answer = text.answer(numbersOf(output));
  if (given === "") give(answer.text);
  return { ...answer, calldata: encodeInput(program, selector, input), output };
}
