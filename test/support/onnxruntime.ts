/** onnxruntime in this process: the daemons run it in a child, tests compare with it. */
import { type InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { type Emission, type EmitOptions, emit } from "../../inference/emit/emit.ts";
import type { Model, Step, Tensor, TensorType } from "../../inference/program/form.ts";
import { openSession } from "./session.ts";

export const TYPES = { u8: "uint8", s8: "uint8", bool: "uint8", s32: "int32", f32: "float32" } as const;

/** A program as onnxruntime runs it. */
export interface EmittedProgram {
  /** The tensors that are outputs.
   *  @param inputs content of the CODEC steps, in step order */
  run(inputs: readonly Tensor[]): Promise<Tensor[]>;
  close(): Promise<void>;
}

/** @throws Error if the emitter refuses the program */
export async function openEmitted(
  model: Model,
  options: EmitOptions,
  threads?: number,
): Promise<EmittedProgram> {
  const emission = emit(model, options);
  if ("refused" in emission) throw new Error(`the emitter refused: ${emission.refused}`);
  const session = await openSession(emission.onnx, threads);
  return {
    run: (inputs) => run(session, emission, model, inputs),
    close: () => session.release(),
  };
}

async function run(
  session: InferenceSession,
  emission: Emission,
  { program }: Model,
  inputs: readonly Tensor[],
): Promise<Tensor[]> {
  const feeds: Record<string, OrtTensor> = {};
  emission.inputs.forEach((step, i) => {
    const { type, dims, data } = inputs[i] as Tensor;
    feeds[`s${step}`] = ortTensor(type, dims, data);
  });
  const results = await session.run(feeds);
  return emission.outputs.map((i) => {
    const { type, dims } = program.steps[i] as Step;
    return { type, dims, data: (results[`o${i}`] as OrtTensor).data as Tensor["data"] };
  });
}

const ortTensor = (type: TensorType, dims: readonly number[], data: Tensor["data"]): OrtTensor =>
  new OrtTensor(TYPES[type], data as Uint8Array, dims);
