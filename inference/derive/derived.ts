/** What a derivation gives, whatever the family of the model. */
import { fail } from "../onnx/fail.ts";
import { Refusal } from "../onnx/refusal.ts";
import { MAX_REDUCED_LENGTH } from "../program/check.ts";
import type { Model } from "../program/form.ts";

export interface DerivedModel {
  readonly model: Model;
  /** the part of the model that each step belongs to */
  readonly nodes: readonly string[];
}

/** Units of work: attention over the most places of a model of a billion weights. */
export const MOST_WORK = 2 ** 34;
/** A row of scores is reduced at once. */
export const MOST_PLACES = MAX_REDUCED_LENGTH;

/** @throws DERIVATION_REFUSED for weights and scales that do not go together */
export function orRefused(emitted: () => DerivedModel): DerivedModel {
  try {
    return emitted();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw fail(
      "DERIVATION_REFUSED",
      `The weights and scales give no program: ${error.message}.`,
      error.nextStep,
    );
  }
}
