/** A graph of which one input is the claimed output: what a claim states, in place of calldata (docs/EXACT.md, section 5). */
import {
  elementCount,
  type InputCodec,
  type Operand,
  type OutputCodec,
  type Program,
  readsClaimed,
  type Step,
} from "../program/form.ts";
import { reshapeCoordinates } from "./axes.ts";
import type { ProgramBuilder } from "./builder.ts";
import { fail } from "./fail.ts";
import type { OnnxGraph, OnnxType } from "./graph.ts";
import { codecDims } from "./inputs.ts";
import type { Lowering } from "./lower/lowering.ts";
import { TENSOR_TYPE, type TensorValue } from "./lower/values.ts";
import { defaultOutput } from "./outputs.ts";

export interface ClaimedInput {
  readonly name: string;
  readonly type: OnnxType;
  readonly dims: readonly number[];
}

export interface ClaimedGraph {
  /** without that input */
  readonly graph: OnnxGraph;
  readonly claimed?: ClaimedInput;
}

type Shape = Pick<Step, "type" | "dims">;

const TYPES: readonly OnnxType[] = ["int32", "uint8", "int8"];

/** @param name of an input; absent: the program reads calldata alone @throws IMPORT_CLAIMED */
export function withoutClaimed(graph: OnnxGraph, name: string | undefined): ClaimedGraph {
  if (name === undefined) return { graph };
  const claimed = graph.inputs.find((input) => input.name === name);
  const all = graph.inputs.map((input) => input.name).join(", ");
  if (claimed === undefined)
    throw refusal(
      `The graph has no input ${name}, which is to be the claimed output.`,
      `Name one of ${all}.`,
    );
  if (!TYPES.includes(claimed.type)) {
    throw refusal(
      `Input ${name} is ${claimed.type}; the claimed output is ${TYPES.join(", ")}.`,
      claimed.type === "int64"
        ? `Give it as int32: --input-type ${name}=int32.`
        : "Declare it as integers, as the output is.",
    );
  }
  return { graph: { ...graph, inputs: graph.inputs.filter((input) => input !== claimed) }, claimed };
}

/** The output codec that fits what is claimed; undefined where nothing is. */
export const claimedOutput = (
  codec: InputCodec,
  claimed: ClaimedInput | undefined,
): OutputCodec | undefined =>
  claimed && defaultOutput(codec, TENSOR_TYPE[claimed.type], elementCount(claimed.dims));

/** Emits the CODEC step. Its rows are along the first axis that has more than one place.
 *  @param held the type in the file, where it is given another one */
export function emitClaimed(
  builder: ProgramBuilder,
  { name, type, dims }: ClaimedInput,
  held: OnnxType | undefined,
): TensorValue {
  const stored = TENSOR_TYPE[type];
  builder.node = `input ${name}`;
  const operand = builder.claimed(stored, codecDims(stored, rowsOf(dims)));
  return { kind: "tensor", operand, type: stored, onnx: held ?? type, dims };
}

function rowsOf(dims: readonly number[]): readonly number[] {
  const first = dims.findIndex((dim) => dim !== 1);
  return first < 0 ? [1] : dims.slice(first);
}

/** The last tensor in the claimed one's dims. @throws IMPORT_CLAIMED where no claim could be equal to it */
export function outputAsClaimed(ctx: Lowering, output: Operand, { name }: ClaimedInput): Operand {
  const { builder } = ctx;
  const [last, own] = [output, ctx.plain(ctx.get(name))].map((operand) => builder.shape(operand)) as [
    Shape,
    Shape,
  ];
  const [found, wanted] = [last, own].map(({ type, dims }) => `${elementCount(dims)} elements of ${type}`);
  if (found !== wanted) {
    throw refusal(
      `The output is ${found}, the claimed output ${name} is ${wanted}.`,
      "Give both one type and as many elements; --keep NAME takes one of several outputs.",
    );
  }
  if (last.dims.join() === own.dims.join()) return output;
  return builder.move(output, own.dims, reshapeCoordinates(own.dims));
}

/** @throws IMPORT_CLAIMED */
export function requireRead(program: Program, { name }: ClaimedInput): void {
  if (readsClaimed(program)) return;
  throw refusal(
    `No output depends on ${name}, the claimed output.`,
    "Leave it out: calldata gives all that is read.",
  );
}

const refusal = (message: string, nextStep: string) => fail("IMPORT_CLAIMED", message, nextStep);
