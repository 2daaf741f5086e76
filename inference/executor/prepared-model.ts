/** A model that is ready to run, and what it is prepared with. */
import type { CodecInput } from "../codecs/input.ts";
import type { OpcodeForm } from "../opcodes/opcode.ts";
import type { ProgramBounds } from "../profile/causality/bounds.ts";
import type { Model, Opcode, Operand, Program, Tensor, TensorData, TensorType } from "../program/form.ts";
import type { Span } from "./parts.ts";
import type { RowPlan } from "./rows/plan.ts";

/** @param tensor valid until it returns */
export type SeeTensor = (step: number, tensor: Tensor) => void;

/** A model with one kernel a step and the memory of one run, both made when they are first needed: who only reads its
 *  program holds neither. Runs never overlap: each run overwrites the tensors of the one before. */
export interface PreparedModel {
  readonly model: Model;
  readonly program: Program;
  /** The 4 bytes that calldata starts with. */
  readonly selector: Uint8Array;
  /** Computes every step from decoded calldata; the tensors are valid until the next run.
   *  @param claimed return data that steps of codec claimed read
   *  @throws BaseError CLAIMED_OUTPUT_LENGTH where such a step has none, or none of the model's length */
  run(input: CodecInput, claimed?: Uint8Array): readonly Tensor[];
  /** The same from the content of the CODEC steps, in step order.
   *  @throws BaseError TENSOR_MISMATCH when one has another type or shape than its step */
  runTensors(inputs: readonly Tensor[]): readonly Tensor[];
  /** As `run`, in memory of its own. */
  runApart(input: CodecInput, claimed?: Uint8Array): readonly Tensor[];
  /** The last step's tensor, by a run that holds each other one no longer than it is read.
   *  @param see is told of each step's tensor when it is computed */
  pass(input: CodecInput, claimed?: Uint8Array, see?: SeeTensor): Tensor;
  /** Content of the CODEC steps in step order, in memory of their own.
   *  @param claimed and errors: as for `run` */
  inputTensors(input: CodecInput, claimed?: Uint8Array): Tensor[];
  /** Makes what runs need, which takes long of a large model. */
  makeReady(): void;
  /** Makes the kernels of all steps, in their order. */
  makeKernels(): void;
  /** Computes elements of a step in tensors that a run of this model has, or one of the same model in another thread. */
  computePart(step: number, tensors: readonly Tensor[], span: Span): void;
  /** Decodes calldata, see `decodeInput`. */
  decode(calldata: Uint8Array): CodecInput;
  /** How a program that reads the claimed output is computed row by row; undefined: it does not, or is not proven to be
   *  causal, or has an output of one row. Made at the first call. */
  rowPlan(): RowPlan | undefined;
  /** Computes what a further row of the output, when it is known, gives, in the tensors of the last run.
   *  @param claimed return data whose rows below `stage` are right */
  runStage(plan: RowPlan, stage: number, claimed: Uint8Array): readonly Tensor[];
  /** One step on any content of its operands, in the order a, b, c; PLAIN weights are taken from the model.
   *  @returns the step's tensor, in memory of its own */
  runStep(step: number, operands: readonly (Tensor | undefined)[]): Tensor;
  /** Content of a PLAIN weight operand. */
  constant(operand: Operand): TensorData;
}

export type OpcodeForms = Readonly<Record<Opcode, OpcodeForm>>;

/** A thread that computes a part of a step's elements while the one that runs the program computes the others. */
export interface SecondThread {
  /** Zero-filled memory of a tensor that both see. */
  newData(type: TensorType, count: number): TensorData;
  /** Has elements of a step computed, `from` to before `to`: some by `own`, some in the other thread.
   *  @param tensors of the run, in memory that both see */
  compute(
    step: number,
    tensors: readonly Tensor[],
    span: Span,
    own: (from: number, to: number) => void,
  ): void;
}

export interface PrepareOptions {
  /** what computes each opcode */
  readonly forms?: OpcodeForms;
  /** shares the work of `run`, and of a `pass` that is not looked at */
  readonly second?: SecondThread;
  /** what `proveProfile` found of this model; absent: it is found again where a plan of rows needs it */
  readonly bounds?: ProgramBounds | undefined;
}
