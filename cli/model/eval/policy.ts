/** Shares of right intents and pointers of the agent policy on its test sentences. */

import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { rounded } from "./numbers.ts";
import { type Evaluation, type EvaluationContext, numbersOf } from "./types.ts";

interface Sentence {
  readonly text: string;
  readonly intent: number;
  /** Positions of number, asset and account, -1 where the sentence has none. */
  readonly pointers: readonly number[];
}

export function evaluatePolicy(context: EvaluationContext): Evaluation {
  const { evaluation, prepared } = context;
  const sentences = JSON.parse(context.file("test-texts.json")) as readonly Sentence[];
  let [intents, marked, pointed, whole] = [0, 0, 0, 0];
  for (const { text, intent, pointers } of sentences) {
    const calldata = encodeInput(prepared.program, prepared.selector, {
      codec: "text",
      text: new TextEncoder().encode(text),
    });
    const [found, ...positions] = decodeOutput(prepared.program, execute(prepared, calldata)).data;
    const hits = pointers.map((at, i) => at === positions[i]);
    const wanted = pointers.filter((at) => at >= 0).length;
    const right = hits.filter((hit, i) => hit && (pointers[i] as number) >= 0).length;
    if (found === intent) intents++;
    marked += wanted;
    pointed += right;
    if (found === intent && right === wanted) whole++;
  }
  const percent = (part: number, all: number): number => rounded((100 * part) / all, 2);
  const metrics = {
    intent: percent(intents, sentences.length),
    pointers: percent(pointed, marked),
    whole: percent(whole, sentences.length),
  };
  const { "test templates": stated } = evaluation.metrics as { readonly "test templates": unknown };
  return { count: sentences.length, metrics, stated: numbersOf(stated, "intent", "pointers", "whole") };
}
