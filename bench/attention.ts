/** Attention by both forms of products of computed tensors, and of softmax and normalizations: size of the trace, gas on the
 *  chain. */
import { toHex } from "../base/bytes.ts";
import { importOnnx } from "../inference/onnx/import.ts";
import { MOST_PAIRS } from "../inference/onnx/lower/activations.ts";
import { ARITHMETIC_FORMS } from "../inference/onnx/named-settings.ts";
import { elementBytes, elementCount, type Program } from "../inference/program/form.ts";
import { selfTestCalldata } from "../inference/self-test.ts";
import { MAX_SETTLING_RUN_GAS } from "../protocol/chain/execution/cost.ts";
import { planPublication, publishWeights } from "../protocol/chain/execution/publication.ts";
import { LANE } from "../protocol/rules/types.ts";
import { onnxFile, type TestGraph, type TestNode, type TestTensor } from "../test/support/onnx-file.ts";
import { type BenchChain, openBenchChain, SELECTOR } from "./chain.ts";
import { inferenceGas } from "./lanes/moves.ts";
import { type Figure, gasFigure, grouped, type Measured, type Part } from "./report.ts";

/** Heads, tokens, elements a head. */
type Shape = readonly [heads: number, tokens: number, width: number];
/** The input holds 65,536 bytes: three tensors of a block. */
const SHAPES: readonly Shape[] = [
  [1, 32, 64],
  [4, 48, 32],
  [12, 48, 32],
  [4, 128, 32],
];

const constant = (type: TestTensor["type"], value: number): TestTensor => ({ type, dims: [], data: [value] });
const quantized = (from: readonly string[], to: string): TestNode => ({
  op: "QLinearMatMul",
  inputs: from,
  outputs: [to],
});

/** softmax(q · kᵀ) · v of bytes. */
function attention([heads, tokens, width]: Shape): TestGraph {
  const input = { type: "uint8", dims: [heads, tokens, width] } as const;
  return {
    nodes: [
      { op: "Transpose", inputs: ["k"], outputs: ["t"], attributes: { perm: [0, 2, 1] } },
      quantized(["q", "s", "z", "t", "s", "z", "ss", "z"], "scores"),
      { op: "DequantizeLinear", inputs: ["scores", "ss", "z"], outputs: ["r"] },
      { op: "Softmax", inputs: ["r"], outputs: ["w"], attributes: { axis: -1 } },
      { op: "QuantizeLinear", inputs: ["w", "ws", "wz"], outputs: ["p"] },
      quantized(["p", "ws", "wz", "v", "s", "z", "s", "z"], "y"),
    ],
    inputs: { q: input, k: input, v: input },
    outputs: { y: "uint8" },
    constants: {
      s: constant("float32", 1 / 32),
      ss: constant("float32", 1 / 16),
      z: constant("uint8", 128),
      ws: constant("float32", 1 / 256),
      wz: constant("uint8", 0),
    },
  };
}

const traceBytes = ({ steps }: Program): number =>
  steps.reduce((sum, { type, dims }) => sum + elementBytes(type) * elementCount(dims), 0);

/** Heads, rows, inner length, columns: MOST_PAIRS products each, such as cost the least and the most on the chain. */
const PAIRS = [
  [1, 8, 16, 8],
  [1, 1, 32, 32],
  [4, 8, 4, 8],
  [8, 2, 32, 2],
] as const;

/** Gas of a plain run whose only product is of this shape, as pairs, inside another transaction, cold. */
async function gasOfPairs(bench: BenchChain, shape: (typeof PAIRS)[number]): Promise<number> {
  const [heads, m, k, n] = shape;
  const graph: TestGraph = {
    nodes: [{ op: "MatMulInteger", inputs: ["x", "u", "z", "z"], outputs: ["y"] }],
    inputs: { x: { type: "uint8", dims: [heads, m, k] }, u: { type: "uint8", dims: [heads, k, n] } },
    outputs: { y: "int32" },
    constants: { z: constant("uint8", 128) },
  };
  const { model } = importOnnx(onnxFile(graph), { products: "pairs" });
  const modelId = await bench.register(model, LANE.EXECUTION | LANE.BOND);
  await bench.withSender((sender) => publishWeights(bench.chain, sender, modelId, planPublication(model)));
  const input = toHex(selfTestCalldata(model.program, SELECTOR, 3));
  return (await inferenceGas(bench, modelId, { input }, "plain")).inner;
}

async function gasFigures(): Promise<Figure[]> {
  const bench = await openBenchChain();
  try {
    const figures: Figure[] = [];
    for (const shape of PAIRS) {
      const gas = await gasOfPairs(bench, shape);
      const name = `${grouped(MOST_PAIRS)} products ${shape.join(" × ")} as pairs, a plain run`;
      figures.push(gasFigure(name, BigInt(gas), MAX_SETTLING_RUN_GAS));
      figures.push({ name: "of each product", value: `${grouped(Math.round(gas / MOST_PAIRS))} gas` });
    }
    return figures;
  } finally {
    await bench.close();
  }
}

/** Rows and elements a row: float32 of them fit into an input and an output. */
const ROWS = [
  ["Softmax", [72, 128]],
  ["LayerNormalization", [24, 384]],
  ["RMSNormalization", [16, 576]],
] as const;

/** An operator on rows of quantized integers, quantized again. */
function rowOperator(op: string, [rows, n]: readonly [number, number], type: "uint8" | "int16"): TestGraph {
  const isWide = type === "int16";
  const step = (name: string, from: string, to: string): TestNode => ({
    ...{ op: name, inputs: [from, "s", "z"], outputs: [to] },
  });
  const gain = op === "Softmax" ? [] : ["g"];
  return {
    nodes: [
      ...(isWide ? [step("QuantizeLinear", "x", "i")] : []),
      step("DequantizeLinear", isWide ? "i" : "x", "r"),
      { op, inputs: ["r", ...gain], outputs: ["p"], attributes: { axis: -1 } },
      step("QuantizeLinear", "p", isWide ? "q" : "y"),
      ...(isWide ? [{ op: "Cast", inputs: ["q"], outputs: ["y"], attributes: { to: 6 } }] : []),
    ],
    inputs: { x: { type: isWide ? "float32" : type, dims: [rows, n] } },
    outputs: { y: isWide ? "int32" : type },
    constants: {
      s: constant("float32", isWide ? 2 ** -12 : 2 ** -6),
      z: constant(type, isWide ? 0 : 128),
      ...(op === "Softmax" ? {} : { g: { type: "float32", dims: [n], data: Array(n).fill(0.5) } }),
    },
    opset: 23,
  };
}

/** Both forms of each operator, of 8 and 16 bits. */
function normalizationRows() {
  return ROWS.flatMap(([op, dims]) =>
    (["uint8", "int16"] as const).map((type) => {
      const onnx = onnxFile(rowOperator(op, dims, type));
      const [float32, integers] = ARITHMETIC_FORMS.map((arithmetic) => {
        const { program } = importOnnx(onnx, { arithmetic }).model;
        return { steps: program.steps.length, traceBytes: traceBytes(program) };
      });
      return { operator: op, rows: dims[0], elements: dims[1], type, float32, integers };
    }),
  );
}

async function run(): Promise<Measured> {
  const figures = await gasFigures();
  const rows = SHAPES.map((shape) => {
    const [heads, tokens, width] = shape;
    const onnx = onnxFile(attention(shape));
    const [pairs, dot] = (["pairs", "dot"] as const).map((products) => {
      const { program } = importOnnx(onnx, { products }).model;
      return { steps: program.steps.length, traceBytes: traceBytes(program) };
    });
    const products = heads * tokens * tokens * width;
    return { heads, tokens, width, products, pairs, dot };
  });
  const text = (of: { steps: number; traceBytes: number } | undefined): string[] =>
    of === undefined ? [] : [grouped(of.steps), grouped(of.traceBytes)];
  const columns = [
    "heads × tokens × width",
    "products each",
    "steps, pairs",
    "bytes, pairs",
    "steps, DOT",
    "bytes, DOT",
  ];
  const table = rows.map(({ heads, tokens, width, products, pairs, dot }) => [
    `${heads} × ${tokens} × ${width}`,
    grouped(products),
    ...text(pairs),
    ...text(dot),
  ]);
  const normalized = normalizationRows();
  const forms = {
    columns: [
      "operator on rows",
      "integers",
      "steps, float32",
      "bytes, float32",
      "steps, integers",
      "bytes, integers",
    ],
    rows: normalized.map(({ operator, rows: count, elements, type, float32, integers }) => [
      `${operator}, ${count} × ${elements}`,
      type,
      ...text(float32),
      ...text(integers),
    ]),
  };
  return {
    figures,
    tables: [{ columns, rows: table }, forms],
    rows: [...rows, ...normalized],
  };
}

export const ATTENTION_PART: Part = {
  name: "attention",
  title: "Attention: products of two computed tensors, softmax and normalizations",
  method:
    "Blocks softmax(q·kᵀ)·v of bytes, imported with --products pairs and with --products dot; operators on rows of quantized integers, imported with --arithmetic float32 and integers, those of 16 bits with the steps that quantize float32 to them; bytes of the trace's tensors, without weights and tables. Gas of `infer` on a local chain, whose limit is what a settlement by execution may take.",
  run,
};
