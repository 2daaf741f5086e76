/** Import of graphs of which one input is the claimed output: random causal transformers against passes of the same graph
 *  on calldata alone and against onnxruntime, and what is refused. */
import { describe, expect, it } from "vitest";
import { fromHex } from "../../../base/bytes.ts";
import { isBaseError } from "../../../base/errors.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { type NamedTensors, runNamed } from "../../../inference/model-values.ts";
import { type ImportSettings, importOnnx } from "../../../inference/onnx/import.ts";
import { readsClaimed } from "../../../inference/program/form.ts";
import { type CausalGraph, type CausalOptions, causalGraph } from "../../support/causal-graphs.ts";
import { onnxFile, type TestGraph } from "../../support/onnx-file.ts";
import { node, t } from "../../support/onnx-nodes.ts";
import { ortTensor } from "../../support/onnx-original.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { openSession } from "../../support/session.ts";

const GRAPHS = scaled(8, 200);
const PROMPTS = 4;
const SELECTOR = fromHex("0x12345678");
const IDS = { inputTypes: new Map(["prompt", "answer"].map((name) => [name, "int32"])) };
const INTEGERS: ImportSettings = { arithmetic: "integers", ...IDS };

const ids = (data: readonly number[]): NamedTensors[string] => ({
  type: "int32",
  dims: [1, data.length],
  data,
});
const promptOf = (rng: Rng, { prompt, vocabulary }: CausalGraph) =>
  Array.from({ length: prompt }, () => rng.int(0, vocabulary - 1));

/** Passes of the graph, which reads both inputs from calldata, until nothing changes. */
function byPasses(onnx: Uint8Array, settings: ImportSettings, answer: number) {
  const { model, io } = importOnnx(onnx, settings);
  const prepared = prepare(model, SELECTOR);
  return (prompt: readonly number[]): readonly number[] => {
    let y: readonly number[] = new Array<number>(answer).fill(0);
    for (let pass = 0; pass <= answer; pass++) {
      const given = { prompt: ids(prompt), answer: ids(y) };
      const next = runNamed({ onnx, io, prepared }, given).outputs.next?.data as readonly number[];
      if (next.join() === y.join()) return y;
      y = next;
    }
    throw new Error(`no output after ${answer + 1} passes`);
  };
}

describe("importOnnx, claimed", () => {
  it.each(
    (["Add", "Where"] as const).flatMap((mask) =>
      (["raw", "int16s"] as const).map((codec) => [mask, codec] as const),
    ),
  )("behavior: random transformers with a mask by %s, codec %s", async (mask, codec) => {
    const rng = createRng(mask.length + codec.length);
    let [tokens, same] = [0, 0];
    const answers = new Set<string>();
    for (let i = 0; i < GRAPHS; i++) {
      const made = causalGraph(rng, { mask, layers: rng.int(1, 2) });
      const onnx = onnxFile(made.graph);
      const settings = { ...INTEGERS, codec };
      const { model, io } = importOnnx(onnx, { ...settings, claimed: "answer" });
      expect(model.program.steps.filter(({ opcode }) => opcode === "float")).toEqual([]);
      const prepared = prepare(model, SELECTOR);
      const passes = byPasses(onnx, settings, made.answer);
      const session = await openSession(onnx);
      for (let run = 0; run < PROMPTS; run++) {
        const prompt = promptOf(rng, made);
        const { outputs, trace } = runNamed({ onnx, io, prepared }, { prompt: ids(prompt) });
        const { data } = outputs.next as NamedTensors[string];
        expect(data).toEqual(passes(prompt));
        expect(Array.from(trace.at(-1)?.data ?? [])).toEqual(data);
        answers.add(data.join());
        const theirs = await session.run({
          prompt: ortTensor(ids(prompt), "int64"),
          answer: ortTensor(ids(data), "int64"),
        });
        const next = Array.from(theirs.next?.data as BigInt64Array, Number);
        tokens += data.length;
        same += data.filter((token, at) => token === next[at]).length;
      }
      await session.release();
    }
    // Each step may be a unit off, and the largest of two near numbers is another one then.
    process.stdout.write(`${mask} ${codec}: onnxruntime chooses ${same} of ${tokens} tokens, too\n`);
    expect(same).toBeGreaterThan(0.9 * tokens);
    expect(answers.size).toBeGreaterThan(GRAPHS);
  });

  it.each<[string, CausalOptions]>([
    ["no mask", { mask: "none" }],
    ["a token that sees itself", { mask: "Add", shift: 0 }],
  ])("error: %s", (_, options) => {
    const onnx = onnxFile(causalGraph(createRng(3), options).graph);
    expect(() => importOnnx(onnx, { ...INTEGERS, claimed: "answer" })).toThrow(
      expect.objectContaining({ code: "CAUSALITY_UNPROVEN" }),
    );
    expect(() => importOnnx(onnx, INTEGERS)).not.toThrow();
  });

  it("error: a mask in float32, of which nothing is proven", () => {
    const onnx = onnxFile(causalGraph(createRng(3), { mask: "Add" }).graph);
    expect(() => importOnnx(onnx, { ...IDS, claimed: "answer" })).toThrow(
      expect.objectContaining({ code: "CAUSALITY_UNPROVEN" }),
    );
  });
});

/** `next[i] = prompt[i] + answer[i − 1]`, of bytes or of integers. */
const running = (changes: Partial<TestGraph> = {}): TestGraph => ({
  nodes: [
    node("Slice", ["answer", "start", "end"], {}, "seen"),
    node("Concat", ["zero", "seen"], { axis: 0 }, "before"),
    node("Add", ["prompt", "before"], {}, "next"),
  ],
  inputs: { prompt: { type: "int32", dims: [4] }, answer: { type: "int32", dims: [4] } },
  outputs: { next: "int32" },
  constants: { start: t("int64", [1], [0]), end: t("int64", [1], [3]), zero: t("int32", [1], [0]) },
  ...changes,
});
const refusal = (graph: TestGraph, settings: ImportSettings): string => {
  try {
    importOnnx(onnxFile(graph), settings);
  } catch (error) {
    if (isBaseError(error)) return `${error.code}: ${error.shortMessage}`;
    throw error;
  }
  return "imported";
};

const WORDS: ImportSettings = { claimed: "answer", codec: "int16s" };

describe("importOnnx, claimed: its inputs and outputs", () => {
  it("default: sums by rows, the claimed input is no part of calldata", () => {
    const onnx = onnxFile(running());
    const { model, io } = importOnnx(onnx, { ...WORDS, output: "int16s" });
    expect(io).toMatchObject({
      inputs: [{ name: "prompt", offset: 0 }],
      claimed: { name: "answer", type: "int32", dims: [4] },
    });
    expect(model.program.inputSize).toBe(4);
    const prompt = { type: "int32", dims: [4], data: [30_000, 2_000, 3_000, -4_000] };
    const { outputs } = runNamed({ onnx, io, prepared: prepare(model, SELECTOR) }, { prompt });
    // The third sum is claimed as a number of 16 bits, and that is what the fourth reads.
    expect(outputs.next?.data).toEqual([30_000, 32_000, 35_000, 28_767]);
  });

  it("default: bytes, and an input that is not one", () => {
    const bytes = { type: "uint8", dims: [4] } as const;
    const graph = running({
      nodes: [...running().nodes.slice(0, -1), node("Max", ["prompt", "before"], {}, "next")],
      inputs: { prompt: bytes, answer: bytes },
      outputs: { next: "uint8" },
      constants: { ...running().constants, zero: t("uint8", [1], [7]) },
    });
    const onnx = onnxFile(graph);
    const { model, io } = importOnnx(onnx, { claimed: "answer" });
    expect(readsClaimed(model.program)).toBe(true);
    const run = (inputs: NamedTensors) => runNamed({ onnx, io, prepared: prepare(model, SELECTOR) }, inputs);
    const prompt = { ...bytes, data: [3, 200, 9, 255] };
    expect(run({ prompt }).outputs.next?.data).toEqual([7, 200, 200, 255]);
    expect(() => run({ prompt, answer: prompt })).toThrow("Input answer is no input of the model.");
  });

  it.each<[string, Partial<TestGraph>, ImportSettings, string]>([
    [
      "an input that there is not",
      {},
      { claimed: "y" },
      "IMPORT_CLAIMED: The graph has no input y, which is to be the claimed output.",
    ],
    [
      "float32",
      { inputs: { prompt: { type: "int32", dims: [4] }, answer: { type: "float32", dims: [4] } } },
      WORDS,
      "IMPORT_CLAIMED: Input answer is float32; the claimed output is int32, uint8, int8.",
    ],
    [
      "another number of elements",
      { inputs: { prompt: { type: "int32", dims: [4] }, answer: { type: "int32", dims: [5] } } },
      WORDS,
      "IMPORT_CLAIMED: The output is 4 elements of s32, the claimed output answer is 5 elements of s32.",
    ],
    [
      "the only input",
      {
        nodes: [node("Add", ["answer", "zero"], {}, "next")],
        inputs: { answer: { type: "int32", dims: [4] } },
      },
      WORDS,
      "IMPORT_CODEC: The graph has no input.",
    ],
    [
      "one that no output depends on",
      { nodes: [node("Add", ["prompt", "zero"], {}, "next")] },
      WORDS,
      "IMPORT_CLAIMED: No output depends on answer, the claimed output.",
    ],
  ])("error: %s", (_, changes, settings, expected) => {
    expect(refusal(running(changes), settings)).toBe(expected);
  });
});
