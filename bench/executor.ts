/** Speed of the canonical executor beside onnxruntime on the emitted file, and of traces and their commitments. */
import { Tensor as OrtTensor } from "onnxruntime-node";
import { createRng } from "../conformance/generate/rng.ts";
import { commitTrace } from "../inference/commit/commitments.ts";
import { trace } from "../inference/executor/execute.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import { importOnnx } from "../inference/onnx/import.ts";
import type { Tensor } from "../inference/program/form.ts";
import { selfTestCalldata } from "../inference/self-test.ts";
import { onnxFile, type TestNode, type TestTensor } from "../test/support/onnx-file.ts";
import { openEmitted } from "../test/support/onnxruntime.ts";
import { node, random, scalar, tensor } from "../test/support/quantized-graphs.ts";
import { openSession } from "../test/support/session.ts";
import { LAYER, layer, shippedModels } from "./models.ts";
import { ONNXRUNTIME } from "./peers.ts";
import { type Figure, grouped, type Part } from "./report.ts";

const CHANNELS = 64;
const SIDE = 24;
const KERNEL = 3;
const MAP = [1, CHANNELS, SIDE, SIDE];
/** What the executor may take, times onnxruntime, and seconds for the trace. */
const TARGETS = { layer: 15, shipped: 3, traceSeconds: 10 };
const TRACE_ELEMENTS = 10 ** 7;

/** Convolutions 3 × 3 of 64 channels over maps of 24 × 24, one after the other: a file of QLinearConv nodes. */
function convolutions(count: number): Uint8Array {
  const rng = createRng(2);
  const constants: Record<string, TestTensor> = {
    s: scalar("float32", 0.02),
    z: scalar("uint8", 128),
    wz: tensor("int8", [CHANNELS], new Array(CHANNELS).fill(0)),
  };
  const nodes: TestNode[] = [];
  for (let i = 0; i < count; i++) {
    const scales = Array.from({ length: CHANNELS }, () => (0.001 * rng.int(700, 1400)) / 1000);
    constants[`w${i}`] = random(rng, "int8", [CHANNELS, CHANNELS, KERNEL, KERNEL], [-127, 127]);
    constants[`ws${i}`] = tensor("float32", [CHANNELS], scales);
    constants[`c${i}`] = random(rng, "int32", [CHANNELS], [-3000, 3000]);
    const inputs = [`x${i}`, "s", "z", `w${i}`, `ws${i}`, "wz", "s", "z", `c${i}`];
    nodes.push(node("QLinearConv", inputs, { pads: [1, 1, 1, 1] }, `x${i + 1}`));
  }
  return onnxFile({
    nodes,
    inputs: { x0: { type: "uint8", dims: MAP } },
    outputs: { [`x${count}`]: "uint8" },
    constants,
  });
}

const imported = (onnx: Uint8Array): PreparedModel => prepare(importOnnx(onnx).model, new Uint8Array(4));

const ROUNDS = 12;
const ROUND_MS = 60;

/** Time of the processor that this process has had, ms. Unlike the clock's it does not grow with other processes. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Mean of a call in the fastest round, ms of the processor. The calls take turns. */
async function fastest(calls: readonly (() => unknown)[]): Promise<number[]> {
  const best = calls.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, call] of calls.entries()) {
      const start = processorMs();
      let runs = 0;
      let spent = 0;
      for (; spent < ROUND_MS; spent = processorMs() - start) {
        for (const end = 2 * runs + 1; runs < end; runs++) await call();
      }
      // The first round warms up.
      if (round > 0) best[i] = Math.min(best[i] as number, spent / runs);
    }
  }
  return best;
}

/** Content of the CODEC steps, another one at each call. */
function inputsOf(prepared: PreparedModel): () => readonly Tensor[] {
  const { program, selector } = prepared;
  const inputs = Array.from({ length: 8 }, (_, seed) =>
    prepared.inputTensors(prepared.decode(selfTestCalldata(program, selector, 2 * seed))),
  );
  let next = 0;
  return () => inputs[next++ % inputs.length] as readonly Tensor[];
}

async function beside(
  name: string,
  prepared: PreparedModel,
  session: (inputs: readonly Tensor[]) => unknown,
  most: number,
): Promise<Figure> {
  const next = inputsOf(prepared);
  const calls = [() => prepared.runTensors(next()), () => session(next())];
  const [ours, theirs] = (await fastest(calls)) as [number, number];
  const microseconds = (ms: number): string => `${grouped(Math.round(1000 * ms))} µs`;
  return {
    name,
    value: `${(ours / theirs).toFixed(2)}× (${microseconds(ours)} over ${microseconds(theirs)})`,
    target: `≤ ${most}×`,
    isMet: ours / theirs <= most,
  };
}

async function besideEmitted(name: string, prepared: PreparedModel, most: number): Promise<Figure> {
  const emitted = await openEmitted(prepared.model, {});
  const figure = await beside(name, prepared, emitted.run, most);
  await emitted.close();
  return figure;
}

async function besideOriginal(name: string, onnx: Uint8Array): Promise<Figure> {
  const session = await openSession(onnx);
  const run = ([x]: readonly Tensor[]): unknown =>
    session.run({ x0: new OrtTensor("uint8", x?.data as Uint8Array, MAP) });
  const figure = await beside(name, imported(onnx), run, TARGETS.layer);
  await session.release();
  return figure;
}

async function executor(): Promise<Figure[]> {
  const name = `convolution ${KERNEL}×${KERNEL}, ${CHANNELS} channels, ${SIDE}×${SIDE}`;
  const onnx = convolutions(1);
  const figures = [
    await besideEmitted(`layer ${LAYER}×${LAYER}, batch 1`, layer(), TARGETS.layer),
    await besideEmitted(name, imported(onnx), TARGETS.layer),
    await besideOriginal(`${name}, over the file of QLinearConv`, onnx),
  ];
  for (const [model, prepared] of shippedModels())
    figures.push(await besideEmitted(model, prepared, TARGETS.shipped));
  return figures;
}

const LAYERS = 15;

async function traces(): Promise<Figure[]> {
  const prepared = imported(convolutions(LAYERS));
  const calldata = selfTestCalldata(prepared.program, prepared.selector, 0);
  const start = performance.now();
  const tensors = trace(prepared, calldata);
  const traced = performance.now();
  commitTrace(prepared.program, tensors);
  const end = performance.now();
  const elements = tensors.reduce((sum, { data }) => sum + data.length, 0);
  if (elements < TRACE_ELEMENTS) throw new Error(`the trace has ${elements} elements`);
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  return [
    {
      name: `trace of ${grouped(elements)} elements, ${LAYERS} convolutions`,
      value: seconds(traced - start),
    },
    { name: "its commitment", value: seconds(end - traced) },
    {
      name: "both",
      value: seconds(end - start),
      target: `≤ ${TARGETS.traceSeconds} s`,
      isMet: end - start <= 1000 * TARGETS.traceSeconds,
    },
  ];
}

export const EXECUTOR_PARTS: readonly Part[] = [
  {
    name: "executor",
    title: "Canonical executor beside onnxruntime",
    method: `Every step of a run, from the input's tensors, over \`session.run\` of ${ONNXRUNTIME} on the emitted file in the same process with one thread, its tensors made and read. Processor time, ${ROUNDS} rounds in turn, best of each.`,
    run: executor,
  },
  {
    name: "trace",
    title: "A large trace and its commitment",
    method: "Every step's tensor, then the trees over all of them, once and without warming up.",
    run: traces,
  },
];
