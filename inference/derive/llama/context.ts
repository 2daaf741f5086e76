/** What each part of a language model is derived from. */
import type { ProgramBuilder } from "../../onnx/builder.ts";
import type { Gguf } from "../gguf.ts";
import { type QuantizedRows, quantizedRows } from "../quantized-rows.ts";
import { type LlamaShape, tensorOf } from "./shape.ts";

/** How many ids a prompt and an answer have. */
export interface Lengths {
  readonly prompt: number;
  readonly answer: number;
}

export interface Context {
  readonly builder: ProgramBuilder;
  readonly file: Gguf;
  readonly shape: LlamaShape;
  /** rows of activations: the ids of the prompt, and those of the answer but the last */
  readonly places: number;
}

/** An operand of a product: planes of numbers of 16 bits. */
export interface Wide {
  readonly planes: number;
  /** what 1 of a number stands for */
  readonly unit: number;
  /** whether the number in each column has the other sign */
  readonly signs?: readonly (1 | -1)[];
}

export const weightsOf = ({ file }: Context, name: string): QuantizedRows =>
  quantizedRows(file, tensorOf(file, name));
