/** Import against onnxruntime on the original file: counts elements, differences and the largest one. */
import { Tensor as OrtTensor } from "onnxruntime-node";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { type NamedTensors, runNamed } from "../../inference/model-values.ts";
import type { ModelInterface } from "../../inference/onnx/import.ts";
import { type ImportSettings, importOnnx } from "../../inference/onnx/import.ts";
import { readOnnx } from "../../inference/onnx/read.ts";
import { openSession } from "./session.ts";

export interface Comparison {
  compared: number;
  different: number;
  /** Largest difference, in units of an integer output; Infinity where a binary32 output differs at all. */
  largest: number;
}

export const nothingCompared = (): Comparison => ({ compared: 0, different: 0, largest: 0 });

const MEMORY = {
  uint8: Uint8Array,
  int8: Int8Array,
  int32: Int32Array,
  int64: { from: (data: readonly number[]) => BigInt64Array.from(data, BigInt) },
  float32: Float32Array,
  bool: Uint8Array,
} as const;

/** @param declared the type in the file, where import gives the input another one */
export function ortTensor({ type, dims, data }: NamedTensors[string], declared = type): OrtTensor {
  const name = declared as keyof typeof MEMORY;
  return new OrtTensor(name, MEMORY[name].from(data) as Uint8Array, dims);
}

/** Compares an imported model with its file.
 *  @param runs named inputs of each run
 *  @param floatUnit what one unit of a dequantized float32 output is; by default its bits must be equal */
export async function compareOriginal(
  onnx: Uint8Array,
  model: { readonly prepared: PreparedModel; readonly io: ModelInterface },
  runs: readonly NamedTensors[],
  comparison: Comparison,
  floatUnit = 0,
): Promise<void> {
  const session = await openSession(onnx);
  const declared = new Map(readOnnx(onnx).inputs.map((i) => [i.name, i.type]));
  for (const inputs of runs) {
    const feeds = Object.fromEntries(
      Object.entries(inputs).map(([name, t]) => [name, ortTensor(t, declared.get(name))]),
    );
    const expected = await session.run(feeds);
    const { outputs } = runNamed({ onnx, ...model }, inputs);
    for (const [name, { type, dims, data }] of Object.entries(outputs)) {
      const tensor = expected[name] as OrtTensor;
      if (tensor.dims.join() !== dims.join())
        throw new Error(`output ${name} is [${dims}], onnxruntime gives [${tensor.dims}]`);
      const theirs = Array.from(tensor.data as Uint8Array | BigInt64Array, Number);
      comparison.compared += data.length;
      data.forEach((ours, i) => {
        if (Object.is(ours, theirs[i])) return;
        const distance = Math.abs(ours - (theirs[i] as number));
        comparison.different++;
        comparison.largest = Math.max(
          comparison.largest,
          type === "float32" ? distance / floatUnit : distance,
        );
      });
    }
  }
  await session.release();
}

/** Imports a file and compares it. */
export async function compareImport(
  onnx: Uint8Array,
  runs: readonly NamedTensors[],
  comparison: Comparison,
  settings: ImportSettings = {},
): Promise<void> {
  const { model, io } = importOnnx(onnx, settings);
  await compareOriginal(onnx, { prepared: prepare(model, new Uint8Array(4)), io }, runs, comparison);
}
