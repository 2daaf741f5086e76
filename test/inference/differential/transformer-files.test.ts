/** Text classifiers as Hugging Face's exporters write them (tools/transformer_examples.py), against onnxruntime. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tensor as OrtTensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { prepare } from "../../../inference/executor/prepare.ts";
import { boundInputs, type NamedTensors, runNamed } from "../../../inference/model-values.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { readOnnx } from "../../../inference/onnx/read.ts";
import { elementCount } from "../../../inference/program/form.ts";
import { compareBoth } from "../../support/both-ways.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { openSession } from "../../support/session.ts";

const RUNS = scaled(12, 300);
const [VOCABULARY, TOKENS] = [90, 12];
const SETTINGS = { inputTypes: new Map([["attention_mask", "int32"]]) };

const read = (name: string): Uint8Array =>
  readFileSync(join(import.meta.dirname, `../../vectors/quantized/${name}.onnx`));

/** Texts of 1 to 12 tokens, the rest masked; one in eight repeats one token. */
function textsFor(onnx: Uint8Array, rng: Rng): NamedTensors[] {
  const { inputs } = readOnnx(onnx);
  return Array.from({ length: RUNS }, () => {
    const length = rng.int(1, TOKENS);
    const only = rng.chance(0.125) ? rng.int(0, VOCABULARY - 1) : undefined;
    const row = (at: (i: number) => number) => ({
      type: "int32" as const,
      dims: [1, TOKENS],
      data: Array.from({ length: TOKENS }, (_, i) => (i < length ? at(i) : 0)),
    });
    const values: NamedTensors = {
      input_ids: row(() => only ?? rng.int(0, VOCABULARY - 1)),
      attention_mask: row(() => 1),
      token_type_ids: row((i) => (2 * i < length ? 0 : 1)),
    };
    return Object.fromEntries(inputs.map(({ name }) => [name, values[name] as NamedTensors[string]]));
  });
}

interface Measured {
  readonly largest: number;
  readonly otherLabels: number;
}

const labelOf = (scores: readonly number[]): number => scores.indexOf(Math.max(...scores));

async function measureScores(onnx: Uint8Array, runs: readonly NamedTensors[]): Promise<Measured> {
  const { model, io } = importOnnx(onnx, SETTINGS);
  const prepared = prepare(model, new Uint8Array(4));
  const session = await openSession(onnx);
  let [largest, otherLabels] = [0, 0];
  for (const inputs of runs) {
    const feeds = Object.entries(inputs).map(([name, { data, dims }]) => [
      name,
      new OrtTensor("int64", BigInt64Array.from(data, BigInt), dims),
    ]);
    const expected = await session.run(Object.fromEntries(feeds));
    const theirs = Array.from(expected.logits?.data as Float32Array);
    const ours = runNamed({ onnx, io, prepared }, inputs).outputs.logits?.data ?? [];
    if (labelOf(ours) !== labelOf(theirs)) otherLabels++;
    ours.forEach((score, i) => {
      largest = Math.max(largest, Math.abs(score - (theirs[i] as number)));
    });
  }
  await session.release();
  return { largest, otherLabels };
}

/** What scores may differ by: float32 alone, or where a byte of a dynamic quantization falls to its other side. */
const BOUNDS = { "bert.float": 2 ** -16, "bert.dynamic": 2 ** -4, "distilbert.dynamic": 2 ** -4 } as const;

describe("transformer text classifiers", () => {
  it.each(Object.entries(BOUNDS))("behavior: %s.onnx has onnxruntime's labels", async (name, bound) => {
    const onnx = read(name);
    const { largest, otherLabels } = await measureScores(onnx, textsFor(onnx, createRng(31)));
    process.stdout.write(`${name}: ${RUNS} texts, ${otherLabels} other labels, scores within ${largest}\n`);
    expect(otherLabels).toBe(0);
    expect(largest).toBeLessThanOrEqual(bound);
    expect(largest).toBeGreaterThan(0);
  });

  it.each(Object.keys(BOUNDS))(
    "behavior: the file emitted for %s.onnx gives the executor's bits",
    async (name) => {
      const onnx = read(name);
      const runs = textsFor(onnx, createRng(32)).slice(0, 3);
      const { imported, emitted } = await compareBoth(name, onnx, runs, { settings: SETTINGS, floatUnit: 1 });
      expect(emitted).toMatchObject({ different: 0 });
      const { steps } = imported.model.program;
      const prepared = prepare(imported.model, new Uint8Array(4));
      const input = boundInputs({ prepared, io: imported.io, onnx }, runs[0] as NamedTensors);
      const start = performance.now();
      for (let i = 0; i < 5; i++) prepared.runTensors(input);
      const time = (performance.now() - start) / 5;
      const work = steps.reduce((sum, { dims }) => sum + elementCount(dims), 0);
      process.stdout.write(`${name}: ${steps.length} steps, ${work} elements, ${time.toFixed(1)} ms a run\n`);
    },
  );
});
