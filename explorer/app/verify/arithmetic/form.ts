/** How one element of a step is computed, written out: what a person checks with a pencil. */
import type { Opcode, TensorType } from "../../../../inference/program/form.ts";

/** A number that an element is computed from. */
export interface Part {
  /** `step 12` or `weights 3`, and which element of it */
  readonly from: string;
  readonly element: number;
  readonly index: readonly number[];
  readonly stored: number;
  readonly value: number;
}

/** One product of a dot product: stored activation byte times weight; of two rows of activations their values. */
export interface Term {
  readonly activation: number;
  readonly weight: number;
  readonly product: number;
}

/** Of DOT activations: `weightsFrom` and `channel` are the step and the row of b, and the bias is 0. */
export interface Dot {
  readonly activationsFrom: string;
  readonly row: number;
  readonly weightsFrom: string;
  readonly channel: number;
  readonly terms: readonly Term[];
  readonly sum: number;
  readonly bias: number;
  /** sum + bias, wrapped to 32 bits */
  readonly accumulator: number;
}

/** From an accumulator to a stored byte, or to 32 bits again. */
export type Requantization =
  | {
      readonly form: "integer";
      readonly multiplier: number;
      readonly addend: bigint;
      readonly shift: number;
      readonly shifted: bigint;
      readonly zeroPoint: number;
      readonly lower: number;
      readonly upper: number;
    }
  | {
      readonly form: "binary32";
      readonly scale: number;
      readonly rounded: number;
      readonly zeroPoint: number;
      readonly lower: number;
      readonly upper: number;
    }
  | {
      readonly form: "rescale";
      readonly multiplier: number;
      readonly addend: bigint;
      readonly shift: number;
      readonly shifted: bigint;
    }
  | {
      readonly form: "limited";
      readonly multiplier: number;
      readonly addend: bigint;
      readonly shift: number;
      readonly shifted: bigint;
      /** u: it is kept between -2^u and 2^u - 1 */
      readonly bits: number;
    };

export interface Arithmetic {
  readonly step: number;
  readonly element: number;
  readonly index: readonly number[];
  readonly opcode: Opcode;
  readonly type: TensorType;
  /** the operation in words */
  readonly formula: string;
  readonly parts: readonly Part[];
  readonly dot?: Dot;
  /** of REQUANT and RESCALE, which DOT has inside `dot` */
  readonly accumulator?: number;
  readonly bias?: number;
  readonly requantization?: Requantization;
  /** the element by what is shown here, stored bytes as an unsigned number */
  readonly stored: number;
  readonly value: number;
}

/** What an opcode gives; the rest follows from the step. */
export type Found = Pick<Arithmetic, "formula" | "parts" | "stored"> & Partial<Arithmetic>;
