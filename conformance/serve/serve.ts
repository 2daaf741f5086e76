import { createInterface } from "node:readline";
import { renderAnswer } from "../lines.ts";
import { answer } from "./answer.ts";

/** Answers each line by one line, in order, until the input ends. */
export async function serve(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<void> {
  for await (const line of createInterface({ input })) output.write(`${renderAnswer(await answer(line))}\n`);
}
