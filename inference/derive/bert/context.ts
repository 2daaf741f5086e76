/** What each part of a classifier is derived from. */
import type { ProgramBuilder } from "../../onnx/builder.ts";
import type { Operand } from "../../program/form.ts";
import { tensorOf } from "../entries.ts";
import { type Gguf, reals } from "../gguf.ts";
import { type QuantizedRows, quantizedRows } from "../quantized-rows.ts";
import type { Wide } from "../steps.ts";
import { type BertShape, biasOf, weightOf } from "./shape.ts";

export interface Context {
  readonly builder: ProgramBuilder;
  readonly file: Gguf;
  readonly shape: BertShape;
  /** rows of activations: the ids of a text */
  readonly places: number;
  /** bool [1, places]: whether a place holds an id */
  readonly isText: Operand;
}

/** The same normalized rows: as an operand of products, and as what a layer's part is added to. */
export interface Rows {
  readonly x: Wide;
  /** s32 [rows, width] */
  readonly state: Operand;
}

export const weightsOf = ({ file }: Pick<Context, "file">, part: string): QuantizedRows =>
  quantizedRows(file, tensorOf(file, weightOf(part)));

/** A part's vector. @param name of the tensor */
export const vectorOf = ({ file }: Pick<Context, "file">, name: string): Float32Array =>
  reals(file, tensorOf(file, name));

export const biasesOf = (ctx: Pick<Context, "file">, part: string): Float32Array =>
  vectorOf(ctx, biasOf(part));
