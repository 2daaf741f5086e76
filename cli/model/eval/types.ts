import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import type { PieceText } from "../../../inference/text/piece-text.ts";

export interface DataContext {
  /** eval.json. */
  readonly evaluation: Readonly<Record<string, unknown>>;
  /** Text of a data file, checked against the sha256 in eval.json. */
  readonly file: (path: string) => string;
}

export interface EvaluationContext extends DataContext {
  readonly name: string;
  /** Folder of the model. */
  readonly directory: string;
  readonly prepared: PreparedModel;
  /** of a classifier by word pieces */
  readonly pieces?: PieceText;
}

export interface Evaluation {
  /** Inputs that were run. */
  readonly count: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** What eval.json says of the same metrics. */
  readonly stated: Readonly<Record<string, number>>;
  /** What could not be measured here, sentences. */
  readonly notes?: readonly string[];
}

/** Numbers of an object, by name. */
export function numbersOf(value: unknown, ...names: readonly string[]): Record<string, number> {
  const object = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  return Object.fromEntries(
    names.flatMap((n) => (typeof object[n] === "number" ? [[n, object[n] as number]] : [])),
  );
}
