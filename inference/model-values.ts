/** A model's inputs and outputs as its ONNX file names and shapes them. */

import { BaseError } from "../base/errors.ts";
import { type CodecInput, encodeInput } from "./codecs/input.ts";
import { rawBytes } from "./codecs/raw.ts";
import { executeTensors, trace } from "./executor/execute.ts";
import type { PreparedModel } from "./executor/prepared-model.ts";
import type { ValueEntry } from "./manifest/assay.ts";
import type { ModelInterface } from "./onnx/import.ts";
import {
  elementCount,
  isClaimed,
  type Program,
  readsClaimed,
  type Step,
  type Tensor,
  type TensorType,
} from "./program/form.ts";
import { newData } from "./program/tensor.ts";

/** JSON form of a tensor: row-major numbers, bool as 0 or 1. */
export interface NamedTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: readonly number[];
}
export type NamedTensors = Readonly<Record<string, NamedTensor>>;

/** What runs a model on named tensors: the canonical executor, or another runtime that must agree with it. */
export interface NamedEngine {
  readonly name: string;
  run(model: RunnableModel, inputs: NamedTensors): Promise<NamedTensors>;
}

export interface RunnableModel {
  readonly prepared: PreparedModel;
  readonly io: ModelInterface;
  /** Bytes of the ONNX file, where there is one. */
  readonly onnx?: Uint8Array;
}

export interface NamedRun {
  readonly outputs: NamedTensors;
  /** Tensor of every step. */
  readonly trace: readonly Tensor[];
}

/** Content of the CODEC steps that read calldata, in step order.
 *  @throws INPUT_INVALID naming input, value and limit */
export function boundInputs(model: RunnableModel, inputs: NamedTensors): Tensor[] {
  const { program } = model.prepared;
  const known = new Set(model.io.inputs.map((i) => i.name));
  for (const name of Object.keys(inputs)) {
    if (!known.has(name)) throw invalid(name, "is no input of the model", `Use ${[...known].join(", ")}.`);
  }
  const bound = calldataSteps(program).map((step) => inputTensor(model, step, inputs));
  for (const entry of model.io.inputs) inputOf(entry, inputs);
  return bound;
}

const calldataSteps = ({ steps }: Program): Step[] =>
  steps.filter((step) => step.opcode === "codec" && !isClaimed(step));

/** Runs the canonical executor; where the program reads the claimed output, with the one that is right.
 *  @throws INPUT_INVALID naming input, value and limit; MODEL_READS_ITS_OUTPUT */
export function runNamed(model: RunnableModel, inputs: NamedTensors): NamedRun {
  const { prepared, io } = model;
  const bound = boundInputs(model, inputs);
  const steps = readsClaimed(prepared.program)
    ? trace(prepared, encodeInput(prepared.program, prepared.selector, codecInput(prepared.program, bound)))
    : executeTensors(prepared, bound);
  return { outputs: namedOutputs(io, steps.at(-1) as Tensor), trace: steps };
}

/** What calldata say, from the tensors that they give. @throws MODEL_READS_ITS_OUTPUT where these do not tell */
function codecInput(program: Program, bound: readonly Tensor[]): CodecInput {
  const { inputCodec, inputSize } = program;
  const places = calldataSteps(program).map(({ k }, i) => ({ k, tensor: bound[i] as Tensor }));
  if (inputCodec === "raw") {
    const bytes = new Uint8Array(inputSize);
    for (const { k, tensor } of places) bytes.set(rawBytes(tensor.type, tensor.data), k);
    return { codec: "raw", bytes };
  }
  if (inputCodec === "int16s") {
    const int16s = new Int16Array(inputSize);
    for (const { k, tensor } of places) int16s.set(tensor.data, k);
    return { codec: "int16s", int16s };
  }
  throw new BaseError({
    code: "MODEL_READS_ITS_OUTPUT",
    shortMessage: `The model reads the output that a claim states, and inputs of codec ${inputCodec} do not tell what calldata they are of.`,
    nextStep: "Run it on calldata.",
    details: { codec: inputCodec },
  });
}

function invalid(name: string, what: string, nextStep: string): BaseError {
  return new BaseError({
    code: "INPUT_INVALID",
    shortMessage: `Input ${name} ${what}.`,
    nextStep,
    details: { input: name },
  });
}

function inputTensor(model: RunnableModel, step: Step, inputs: NamedTensors): Tensor {
  const { inputCodec } = model.prepared.program;
  const single = inputCodec === "text" || inputCodec === "prices";
  const entry = model.io.inputs.find((i) => single || i.offset === step.k);
  if (entry === undefined) throw new TypeError(`no input lies at ${step.k}`);
  const given = inputOf(entry, inputs);
  const [low, high] = limits(inputCodec, step);
  const data = newData(step.type, elementCount(step.dims));
  given.data.forEach((value, i) => {
    const whole = step.type === "f32" ? Number.isFinite(value) : Number.isInteger(value);
    if (!whole || value < low || value > high) {
      throw invalid(
        entry.name,
        `has ${value} at element ${i}; codec ${inputCodec} gives ${low} to ${high}`,
        "Correct the value.",
      );
    }
    data[i] = step.type === "s8" ? value + 128 : value;
  });
  return { type: step.type, dims: step.dims, data };
}

function inputOf(entry: ValueEntry, inputs: NamedTensors): NamedTensor {
  const given = inputs[entry.name];
  if (given === undefined) throw invalid(entry.name, "is missing", `Give ${entry.type} [${entry.dims}].`);
  const same = given.type === entry.type && given.dims.join() === entry.dims.join();
  if (!same || given.data.length !== elementCount(entry.dims)) {
    const is = `is ${given.type} [${given.dims}] with ${given.data.length} elements`;
    throw invalid(entry.name, is, `Give ${entry.type} [${entry.dims}].`);
  }
  return given;
}

const RANGES: Readonly<Record<TensorType, readonly [number, number]>> = {
  u8: [0, 255],
  s8: [-128, 127],
  s32: [-(2 ** 31), 2 ** 31 - 1],
  f32: [-(2 ** 20), 2 ** 20],
  bool: [0, 1],
};

function limits(codec: string, step: Step): readonly [number, number] {
  if (codec === "text") return [0, step.k - 1];
  if (codec === "prices") return [-32_767, 32_767];
  return codec === "int16s" ? [-32_768, 32_767] : RANGES[step.type];
}

const NAMES: Readonly<Record<TensorType, string>> = {
  u8: "uint8",
  s8: "int8",
  s32: "int32",
  f32: "float32",
  bool: "bool",
};

/** A step's tensor in the JSON form. */
export function namedTensor({ type, dims, data }: Tensor): NamedTensor {
  const shift = type === "s8" ? 128 : 0;
  return { type: NAMES[type], dims, data: Array.from(data, (v) => v - shift) };
}

/** The graph's outputs from the last step's tensor. */
export function namedOutputs(io: ModelInterface, last: Tensor): NamedTensors {
  const shift = last.type === "s8" ? 128 : 0;
  return Object.fromEntries(
    io.outputs.map(({ name, type, dims, offset }) => {
      const part = last.data.subarray(offset, offset + elementCount(dims));
      return [name, { type, dims, data: Array.from(part, (v) => v - shift) }];
    }),
  );
}
