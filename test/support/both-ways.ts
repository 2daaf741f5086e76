/** An ONNX file both ways: the imported program against onnxruntime on the emitted file, and on the original one. */
import { prepare } from "../../inference/executor/prepare.ts";
import { boundInputs, type NamedTensors } from "../../inference/model-values.ts";
import { type ImportedModel, type ImportSettings, importOnnx } from "../../inference/onnx/import.ts";
import { type Count, canonicalExecutor, compareCase, Tally } from "./differential.ts";
import { type Comparison, compareOriginal, nothingCompared } from "./onnx-original.ts";
import type { OperatorGraph } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

/** Random inputs of a graph inside of its ranges, one in ten at an end. */
export function inputsOf(rng: Rng, { graph, ranges }: OperatorGraph): NamedTensors {
  return Object.fromEntries(
    Object.entries(graph.inputs).map(([name, { type, dims }]) => {
      const [low, high] = ranges[name] as readonly [number, number];
      const length = (dims as number[]).reduce((a, b) => a * b, 1);
      const data = Array.from({ length }, () =>
        rng.chance(0.1) ? rng.pick([low, high]) : rng.int(low, high),
      );
      return [name, { type, dims: dims as number[], data }];
    }),
  );
}

interface BothWaysOptions {
  /** What onnxruntime runs as the original file, by default the file itself. */
  readonly original?: Uint8Array;
  /** See compareOriginal. */
  readonly floatUnit?: number;
  readonly settings?: ImportSettings;
}

export interface BothWays {
  readonly imported: ImportedModel;
  /** Outputs, against the original file. */
  readonly original: Comparison;
  /** Every step, against the emitted file. */
  readonly emitted: Count;
}

/** @param runs named inputs of each run */
export async function compareBoth(
  name: string,
  onnx: Uint8Array,
  runs: readonly NamedTensors[],
  { original: file = onnx, floatUnit = 0, settings = {} }: BothWaysOptions = {},
): Promise<BothWays> {
  const imported = importOnnx(onnx, settings);
  const { model, io } = imported;
  const prepared = prepare(model, new Uint8Array(4));
  const original = nothingCompared();
  await compareOriginal(file, { prepared, io }, runs, original, floatUnit);
  const bound = runs.map((inputs) => boundInputs({ prepared, io, onnx }, inputs));
  const tally = new Tally();
  await compareCase(canonicalExecutor, { name, model, runs: bound }, tally);
  return { imported, original, emitted: tally.total };
}
