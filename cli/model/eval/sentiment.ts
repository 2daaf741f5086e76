/** Accuracy and macro-F1 of the sentiment models on valid without duplicates; the rule is in models/sentiment/README.md. */

import { type CodecInput, encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { pieceNumbers } from "../../../inference/text/piece-text.ts";
import { csvRows, rounded } from "./numbers.ts";
import { type Evaluation, type EvaluationContext, numbersOf } from "./types.ts";

/** Class of a label in the csv files: 0 bearish, 1 bullish, 2 neutral. */
const CLASS_OF_LABEL = [0, 2, 1] as const;
const CLASSES = 3;
const [TRAIN, VALID] = [
  "twitter_financial_news/sent_train.csv",
  "twitter_financial_news/sent_valid.csv",
] as const;

/** Texts of which the float model finds the same class, in %. */
const AS_FLOAT = "as the float model";

const withoutUrls = (text: string): string => text.replace(/https?:\/\/\S+/g, "").trim();

export function evaluateSentiment(context: EvaluationContext): Evaluation {
  const { evaluation } = context;
  const known = new Set(csvRows(context.file(TRAIN)).map((row) => withoutUrls(row.text ?? "")));
  const rows = csvRows(context.file(VALID)).filter((row) => !known.has(withoutUrls(row.text ?? "")));
  const confusion = Array.from({ length: CLASSES }, () => new Array<number>(CLASSES).fill(0));
  const classify = classifierOf(context);
  const { float_classes: floats } = evaluation;
  let asFloat = 0;
  for (const [i, row] of rows.entries()) {
    const label = classify(row.text ?? "");
    if (typeof floats === "string") asFloat += Number(floats[i] === String(label));
    const truth = confusion[CLASS_OF_LABEL[Number(row.label)] ?? -1];
    if (truth !== undefined) truth[label] = (truth[label] ?? 0) + 1;
  }
  const right = confusion.reduce((sum, row, i) => sum + (row[i] ?? 0), 0);
  const metrics: Record<string, number> = {
    accuracy: rounded((100 * right) / rows.length, 2),
    macro_f1: rounded((100 * confusion.reduce((sum, _, c) => sum + f1(confusion, c), 0)) / CLASSES, 2),
  };
  if (typeof floats === "string") metrics[AS_FLOAT] = rounded((100 * asFloat) / rows.length, 2);
  const shipped = evaluation.shipped as { readonly valid?: unknown } | undefined;
  const stated = numbersOf(shipped?.valid ?? evaluation.metrics, "accuracy", "macro_f1", AS_FLOAT);
  return { count: rows.length, metrics, stated };
}

/** The class that a model finds. One of word pieces reads as much of a text as it takes, and gives the scores alone. */
function classifierOf({ prepared, pieces }: EvaluationContext): (text: string) => number {
  const { program, selector } = prepared;
  const outputOf = (input: CodecInput): ArrayLike<number> =>
    decodeOutput(program, execute(prepared, encodeInput(program, selector, input))).data;
  if (pieces === undefined)
    return (text) => {
      const bytes = new TextEncoder().encode(text).subarray(0, program.inputSize);
      return outputOf({ codec: "text", text: bytes })[0] ?? 0;
    };
  return (text) => {
    const int16s = pieceNumbers(pieces.beginning(text), program.inputSize);
    const scores = Array.from(outputOf({ codec: "int16s", int16s }));
    return scores.indexOf(Math.max(...scores));
  };
}

/** F1 of one class; rows are the truth, columns the predictions. */
function f1(confusion: readonly (readonly number[])[], c: number): number {
  const hit = confusion[c]?.[c] ?? 0;
  const actual = (confusion[c] ?? []).reduce((a, b) => a + b, 0);
  const predicted = confusion.reduce((sum, row) => sum + (row[c] ?? 0), 0);
  return actual + predicted === 0 ? 0 : (2 * hit) / (actual + predicted);
}
