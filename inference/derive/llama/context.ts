/** What each part of a language model is derived from. */
import type { ProgramBuilder } from "../../onnx/builder.ts";
import { tensorOf } from "../entries.ts";
import type { Gguf } from "../gguf.ts";
import { type QuantizedRows, quantizedRows } from "../quantized-rows.ts";
import type { LlamaShape } from "./shape.ts";

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

export const weightsOf = ({ file }: Context, name: string): QuantizedRows =>
  quantizedRows(file, tensorOf(file, name));
