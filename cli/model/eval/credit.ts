/** Cross-validated AUC and accuracy of the credit score card: every row is scored by the file of its own fold,
 *  which never saw it; and the AUC of the shipped file on the rows that it was fitted on. */

import { join } from "node:path";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { readBytes } from "../resolve.ts";
import { rounded } from "./numbers.ts";
import { type Evaluation, type EvaluationContext, numbersOf } from "./types.ts";

const DATA = "german_credit/german.data";
const GOOD = "1";

interface Columns {
  readonly class: number;
  /** A number stands for itself, a category for the position of its code. */
  readonly features: readonly { readonly column: number; readonly codes: readonly string[] | null }[];
}

interface Scored {
  readonly points: number;
  readonly isGood: boolean;
}

export function evaluateCredit(context: EvaluationContext): Evaluation {
  const { evaluation, prepared } = context;
  const columns = evaluation.columns as Columns;
  const foldOfRow = [...(evaluation["fold of row"] as string)].map(Number);
  const basePoints = evaluation["base points"] as number;
  const rows = context
    .file(DATA)
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const score = (model: PreparedModel, row: readonly string[]): Scored => {
    const numbers = columns.features.map(({ column, codes }) =>
      codes === null ? Number(row[column]) : codes.indexOf(row[column] ?? ""),
    );
    const calldata = encodeInput(model.program, model.selector, { codec: "int16s", int16s: numbers });
    const [points = Number.NaN] = decodeOutput(model.program, execute(model, calldata)).data;
    return { points, isGood: row[columns.class] === GOOD };
  };
  const folds = Array.from({ length: 1 + Math.max(...foldOfRow) }, (_, fold) => {
    const onnx = readBytes(join(context.directory, "folds", `${fold}.onnx`));
    const { model } = importOnnx(onnx, { codec: "int16s", output: "words" });
    const held = rows.filter((_row, i) => foldOfRow[i] === fold);
    return held.map((row) => score(prepare(model, prepared.selector), row));
  });
  const right = folds.map(
    (held) => held.filter((s) => s.points >= basePoints === s.isGood).length / held.length,
  );
  const inSample = rows.map((row) => score(prepared, row));
  const shipped = (evaluation.shipped as { readonly "in-sample": unknown })["in-sample"];
  return {
    count: 2 * rows.length,
    metrics: {
      auc: rounded(100 * mean(folds.map(areaUnderCurve)), 2),
      accuracy: rounded(100 * mean(right), 2),
      "in-sample auc": rounded(100 * areaUnderCurve(inSample), 2),
    },
    stated: {
      ...numbersOf(evaluation["cross-validated"], "auc", "accuracy"),
      ...Object.fromEntries(Object.entries(numbersOf(shipped, "auc")).map(([k, v]) => [`in-sample ${k}`, v])),
    },
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;

/** Chance that a good row has more points than a bad one; equal points count half. */
function areaUnderCurve(rows: readonly Scored[]): number {
  const [good, bad] = [rows.filter((r) => r.isGood), rows.filter((r) => !r.isGood)];
  let won = 0;
  for (const { points } of good) {
    for (const other of bad) won += points > other.points ? 1 : points === other.points ? 0.5 : 0;
  }
  return won / (good.length * bad.length);
}
