/** Values that stand in for what a refused node would make, so that the nodes behind it are looked at as well. Their type
 *  and dims are those that the file declares, else what the operator gives; nothing is imported from them. */

import { isStep, type Step } from "../program/form.ts";
import { broadcastDims } from "./builder.ts";
import { count, ONNX_TYPES, type OnnxNode, type OnnxType, type OnnxValueInfo } from "./graph.ts";
import { codecDims } from "./inputs.ts";
import type { Lowering } from "./lower/lowering.ts";
import { dimsOf, TENSOR_TYPE, type TensorValue, typeOf, type Value } from "./lower/values.ts";
import { windowAxes } from "./lower/windows.ts";
import { Refusal } from "./refusal.ts";

type Declared = Omit<OnnxValueInfo, "name">;

export class StandIns {
  readonly #steps = new Set<number>();

  constructor(private readonly ctx: Lowering) {}

  /** For all outputs of a node whose type and dims are known. */
  outputsOf(node: OnnxNode): void {
    node.outputs.forEach((name, i) => {
      const declared =
        this.ctx.graph.declared.get(name) ?? (i === 0 ? guarded(() => made(this.ctx, node)) : undefined);
      if (name !== "" && declared !== undefined) this.set(name, declared, node.op === "DequantizeLinear");
    });
  }

  /** @param isDequantized true where it is a function of bytes, as what reads it then sees */
  set(name: string, { type, dims }: Declared, isDequantized = false): void {
    const value = guarded(() => this.tensor(isDequantized ? "uint8" : type, dims));
    if (value === undefined) return;
    this.ctx.set(
      name,
      isDequantized ? { kind: "dequantized", source: value, scale: [1], zero: [0], axis: 0 } : value,
    );
  }

  private tensor(onnx: OnnxType, dims: readonly number[]): TensorValue {
    const type = TENSOR_TYPE[onnx];
    const operand = this.ctx.builder.codec(type, codecDims(type, dims), 0);
    this.#steps.add(operand);
    return { kind: "tensor", operand, type, onnx, dims };
  }

  /** True for each step that reads a stand-in, directly or not. */
  reached(steps: readonly Step[]): boolean[] {
    const reached: boolean[] = [];
    steps.forEach((step, i) => {
      const reads = [step.a, step.b, step.c].some((operand) => isStep(operand) && reached[operand] === true);
      reached.push(this.#steps.has(i) || reads);
    });
    return reached;
  }
}

function guarded<T>(f: () => T): T | undefined {
  try {
    return f();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const FLOATS: ReadonlySet<string> = new Set([
  "Add",
  "Sub",
  "Mul",
  "Div",
  "Min",
  "Max",
  "Sum",
  "Mean",
  "Pow",
  "PRelu",
]);
const QUANTIZED: ReadonlySet<string> = new Set(["QuantizeLinear", "DynamicQuantizeLinear"]);
/** Other operators whose result has the dims of their first input. */
const KEEPING: ReadonlySet<string> = new Set(
  `BatchNormalization Cast Celu Clip CumSum DequantizeLinear DynamicQuantizeLinear Elu Erf Exp Gelu GroupNormalization
  HardSigmoid HardSwish Hardmax Identity InstanceNormalization LRN LayerNormalization LeakyRelu Log LogSoftmax Mish
  QuantizeLinear RMSNormalization Reciprocal Relu Selu Shrink Sigmoid Softmax Softplus Softsign Sqrt Swish Tanh
  ThresholdedRelu FastGelu QuickGelu BiasGelu`.split(/\s+/),
);

/** Type and dims of a node's first output; undefined where the operator is none of those that are frequent. */
function made(ctx: Lowering, node: OnnxNode): Declared | undefined {
  const values: Value[] = [];
  for (const name of node.inputs) if (name !== "" && ctx.has(name)) values.push(ctx.get(name));
  const [first, second] = values;
  if (first === undefined || !ctx.has(node.inputs[0] ?? "")) return undefined;
  const [dims, type] = [dimsOf(first), typeOf(first)];
  if (FLOATS.has(node.op)) return { type, dims: broadcastDims(...values.map(dimsOf)) };
  if (KEEPING.has(node.op))
    return { type: QUANTIZED.has(node.op) ? "uint8" : (castType(node) ?? type), dims };
  if (second === undefined) return undefined;
  const result = node.op.endsWith("Integer") ? "int32" : type;
  if (node.op.startsWith("MatMul")) return { type: result, dims: matrixDims(dims, dimsOf(second)) };
  if (node.op === "Conv" || node.op === "ConvInteger") {
    const [filters = 1, , ...kernel] = dimsOf(second);
    const spatial = windowAxes(node, dims.slice(2), kernel).map((axis) => axis.output);
    return { type: result, dims: [dims[0] ?? 1, filters, ...spatial] };
  }
  if (node.op !== "Gemm") return undefined;
  const side = (list: readonly number[], name: string, plain: number): number =>
    list[isSet(node, name) ? 1 - plain : plain] ?? 1;
  return { type, dims: [side(dims, "transA", 0), side(dimsOf(second), "transB", 1)] };
}

const isSet = (node: OnnxNode, name: string): boolean => {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "int" && attribute.value !== 0;
};

function castType(node: OnnxNode): OnnxType | undefined {
  const to = node.attributes.get("to");
  return node.op === "Cast" && to?.kind === "int"
    ? (ONNX_TYPES as Readonly<Record<number, OnnxType>>)[to.value]
    : undefined;
}

function matrixDims(a: readonly number[], b: readonly number[]): number[] {
  const batch = broadcastDims([1], a.slice(0, -2), b.slice(0, -2));
  const lead = count(batch) === 1 && a.length < 3 && b.length < 3 ? [] : batch;
  return [...lead, ...(a.length < 2 ? [] : a.slice(-2, -1)), ...(b.length < 2 ? [] : b.slice(-1))];
}
