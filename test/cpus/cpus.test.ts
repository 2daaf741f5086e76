/** The same bits on every CPU: emitted files on emulated processors against the canonical executor. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seededProgram } from "../../conformance/generate/random-program.ts";
import { emit } from "../../inference/emit/emit.ts";
import { executeTensors } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { boundInputs, type NamedTensors } from "../../inference/model-values.ts";
import { type ImportSettings, importOnnx } from "../../inference/onnx/import.ts";
import type { Model, Tensor } from "../../inference/program/form.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { canEmulate, EMULATED_CPUS, type EmulatedCpu } from "../../tools/emulated-cpus.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { inputsOf as graphInputs } from "../support/both-ways.ts";
import { runOn } from "../support/emulated-sessions.ts";
import { onnxFile, type TestGraph } from "../support/onnx-file.ts";
import { TYPES } from "../support/onnxruntime.ts";
import { EXACT } from "../support/operator-graphs.ts";
import { NORMALIZATION_GRAPHS, POSITION_GRAPHS } from "../support/position-graphs.ts";
import { PRODUCT_GRAPHS } from "../support/product-graphs.ts";
import { type Generator, node, random, scalar } from "../support/quantized-graphs.ts";
import { REFERENCES, referenceCase } from "../support/references/references.ts";
import { createRng } from "../support/rng.ts";
import { sampled, scaled } from "../support/scale.ts";
import type { SessionInput, SessionJob } from "../support/session-jobs.ts";

const RUNS = scaled(40, 400);
const RANDOM_PROGRAMS = scaled(120, 600);
/** Graphs of each operator. */
const OPERATOR_GRAPHS = scaled(2, 10);

/** A file, its inputs, and what its outputs must be by the executor. */
interface Case {
  readonly name: string;
  readonly job: SessionJob;
  readonly expected: readonly (readonly Uint8Array[])[];
}

const bytesOf = ({ data }: Tensor): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

const sessionInput = (name: string, tensor: Tensor): SessionInput => ({
  name,
  type: TYPES[tensor.type],
  dims: tensor.dims,
  bytes: bytesOf(tensor).toString("base64"),
});

/** @param inputs content of the CODEC steps of each run */
function emittedCase(
  name: string,
  prepared: PreparedModel,
  inputs: readonly (readonly Tensor[])[],
  trace: boolean,
): Case {
  const emission = emit(prepared.model, { trace });
  if ("refused" in emission) throw new Error(`${name}: ${emission.refused}`);
  const runs = inputs.map((tensors) =>
    emission.inputs.map((step, i) => sessionInput(`s${step}`, tensors[i] as Tensor)),
  );
  const expected = inputs.map((tensors) => {
    const steps = executeTensors(prepared, tensors);
    return emission.outputs.map((step) => bytesOf(steps[step] as Tensor));
  });
  const onnx = Buffer.from(emission.onnx).toString("base64");
  return { name, job: { onnx, runs, outputs: emission.outputs.map((step) => `o${step}`) }, expected };
}

function inputsOf(prepared: PreparedModel, count: number): Tensor[][] {
  const { program, selector } = prepared;
  return Array.from({ length: count }, (_, seed) =>
    prepared.inputTensors(prepared.decode(selfTestCalldata(program, selector, seed))),
  );
}

function shippedCases(): Case[] {
  const models = join(projectRoot, "models");
  const names = readdirSync(models).filter((name) =>
    ["program.bin", "model.onnx"].every((file) => existsSync(join(models, name, file))),
  );
  return names.map((name) => {
    const { model, selector } = loadModelFolder(join(models, name));
    const prepared = prepare(model, selector);
    return emittedCase(name, prepared, inputsOf(prepared, RUNS), false);
  });
}

/** Every step's tensor is compared. */
function randomCases(): Case[] {
  return Array.from({ length: RANDOM_PROGRAMS }, (_, seed) => {
    const { model, selector, calldata } = seededProgram(seed + 1);
    const prepared = prepare(model, selector);
    return emittedCase(
      `random program ${seed + 1}`,
      prepared,
      [prepared.inputTensors(prepared.decode(calldata))],
      true,
    );
  });
}

/** A program that import makes of a graph; every step's tensor is compared. */
function importedCase(
  name: string,
  graph: TestGraph,
  inputs: NamedTensors,
  settings: ImportSettings = {},
): Case {
  const onnx = onnxFile(graph);
  const { model, io } = importOnnx(onnx, settings);
  const prepared = prepare(model, new Uint8Array(4));
  return emittedCase(name, prepared, [boundInputs({ prepared, io, onnx }, inputs)], true);
}

/** Operators that are lowered to several steps: in odd shapes, and in larger ones. */
function operatorCases(): Case[] {
  const odd = Object.keys(REFERENCES).flatMap((name) =>
    Array.from({ length: OPERATOR_GRAPHS }, (_, i) => {
      const { graph, inputs, settings } = referenceCase(name, i + 1);
      return importedCase(`${name}, seed ${i + 1}`, graph, inputs, settings);
    }),
  );
  const dynamic = EXACT.DynamicQuantizeLinear as Generator;
  const generators = { ...POSITION_GRAPHS, ...NORMALIZATION_GRAPHS, ...PRODUCT_GRAPHS, dynamic };
  const larger = Object.entries(generators).map(([name, generator]) => {
    const rng = createRng(4000);
    const operator = generator(rng);
    return importedCase(`larger ${name}`, operator.graph, graphInputs(rng, operator));
  });
  return [...odd, ...larger];
}

const [ROWS, K, N] = [16, 96, 64];

/** u8 activations times s8 weights of full range, as the tools that quantize models write it. */
function signedProduct(): TestGraph {
  const rng = createRng(14_642);
  return {
    nodes: [node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"])],
    inputs: { x: { type: "uint8", dims: [ROWS, K] } },
    outputs: { y: "uint8" },
    constants: {
      xs: scalar("float32", 0.02),
      xz: scalar("uint8", 0),
      w: random(rng, "int8", [K, N], [-127, 127]),
      ws: scalar("float32", 0.01),
      wz: scalar("int8", 0),
      ys: scalar("float32", 1.7),
      yz: scalar("uint8", 128),
    },
  };
}

/** That product as the emitted file has it, and as its file has it, which the first must not be like on every CPU. */
function productCases(): { readonly emitted: Case; readonly original: Case } {
  const onnx = onnxFile(signedProduct());
  const { model }: { model: Model } = importOnnx(onnx);
  const prepared = prepare(model, new Uint8Array(4));
  const inputs = inputsOf(prepared, RUNS);
  const emitted = emittedCase("u8·s8 product, emitted", prepared, inputs, false);
  const runs = inputs.map(([x]) => [sessionInput("x", x as Tensor)]);
  const job = { onnx: Buffer.from(onnx).toString("base64"), runs, outputs: ["y"] };
  return { emitted, original: { name: "u8·s8 product, the original file", job, expected: emitted.expected } };
}

const { emitted, original } = productCases();
const cases = [...shippedCases(), ...randomCases(), ...operatorCases(), emitted];

interface Found {
  readonly compared: number;
  readonly different: number;
}

/** Elements of one byte are counted one by one, others by their bytes. */
function compare({ expected }: Case, results: readonly (readonly string[])[]): Found {
  let [compared, different] = [0, 0];
  expected.forEach((outputs, run) => {
    outputs.forEach((ours, i) => {
      const theirs = Buffer.from(results[run]?.[i] ?? "", "base64");
      expect(theirs.length).toBe(ours.length);
      compared += ours.length;
      ours.forEach((byte, at) => {
        if (byte !== theirs[at]) different++;
      });
    });
  });
  return { compared, different };
}

/** Where pairs of products u8·s8 saturate in 16 bits. */
const SATURATING: EmulatedCpu["model"] = "Haswell";

// Two on each change, all in `npm run test:nightly`.
describe.each(sampled(EMULATED_CPUS, 2))("onnxruntime on $name", (cpu) => {
  it.skipIf(!canEmulate(cpu))("behavior: 0 bytes of the emitted files differ from the executor", async () => {
    const all = [...cases, original];
    const results = await runOn(
      cpu,
      all.map(({ job }) => job),
    );
    const found = all.map((one, i) => compare(one, results[i] ?? []));
    const last = found.pop() as Found;
    const compared = found.reduce((sum, one) => sum + one.compared, 0);
    process.stdout.write(
      `${cpu.name}: ${compared} bytes of ${cases.length} emitted files compared; ` +
        `the u8·s8 product's original file: ${last.different} of ${last.compared} differ\n`,
    );
    expect(all.flatMap(({ name }, i) => ((found[i]?.different ?? 0) > 0 ? [name] : []))).toEqual([]);
    expect(compared).toBeGreaterThan(10_000);
    // The suite can see a difference: here is one.
    if (cpu.model === SATURATING) expect(last.different).toBeGreaterThan(0);
  });
});
