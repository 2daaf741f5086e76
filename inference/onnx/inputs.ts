/** How a graph's inputs come out of calldata: one CODEC step each. */

import { MAX_WHOLE_HEIGHT } from "../program/check.ts";
import { MAX_RANK } from "../program/encode.ts";
import { elementBytes, type InputCodec, type TensorType } from "../program/form.ts";
import { tensorShape } from "../program/shape.ts";
import type { ProgramBuilder } from "./builder.ts";
import { fail } from "./fail.ts";
import { count, type OnnxGraph, type OnnxType, type OnnxValueInfo } from "./graph.ts";
import { isWide } from "./lower/quantization.ts";
import { TENSOR_TYPE, type TensorValue } from "./lower/values.ts";

export interface BoundInput {
  readonly name: string;
  readonly type: OnnxType;
  readonly dims: readonly number[];
  /** First element (int16s), first byte (raw), 0 otherwise. */
  readonly offset: number;
}

export interface InputBinding {
  readonly codec: InputCodec;
  /** Input size of the program's header. */
  readonly size: number;
  readonly inputs: readonly BoundInput[];
  /** Rows of the table that text ids point into; 0 for other codecs. */
  readonly tableRows: number;
  /** Types in the file of inputs that are given another one. */
  readonly held: ReadonlyMap<string, OnnxType>;
}

const refusal = (message: string, nextStep: string) => fail("IMPORT_CODEC", message, nextStep);

/** @param textBytes most bytes of a text @param held types in the file of inputs that are given another one */
export function bindInputs(
  graph: OnnxGraph,
  codec: InputCodec,
  textBytes: number,
  held: ReadonlyMap<string, OnnxType>,
): InputBinding {
  if (graph.inputs.length === 0) throw refusal("The graph has no input.", "Export a graph with inputs.");
  for (const input of graph.inputs) {
    if (input.type === "int64" || isWide(input.type)) {
      throw refusal(
        `Input ${input.name} is ${input.type}; no codec gives ${input.type}.`,
        input.type === "int64"
          ? `Give it as int32: --input-type ${input.name}=int32; what it holds must fit.`
          : "Declare the input as float32 and quantize it inside.",
      );
    }
  }
  if (codec === "raw")
    return joined(graph, codec, held, (input) => elementBytes(TENSOR_TYPE[input.type]), 65_536);
  for (const input of graph.inputs) {
    if (input.type !== "int32") {
      throw refusal(`Input ${input.name} is ${input.type}; codec ${codec} gives int32.`, "Use --codec raw.");
    }
  }
  if (codec === "int16s") return joined(graph, codec, held, () => 1, 4096);
  const [input, ...more] = graph.inputs as [OnnxValueInfo, ...OnnxValueInfo[]];
  if (more.length > 0) {
    throw refusal(
      `Codec ${codec} gives one input, the graph has ${graph.inputs.length}.`,
      "Use --codec raw or int16s.",
    );
  }
  const [outer = 0, inner = 0] = input.dims.slice(-2);
  const lead = count(input.dims.slice(0, -2));
  const inputs = [{ ...input, offset: 0 }];
  if (codec === "prices") {
    if (lead !== 1 || outer !== 3 || inner < 1 || inner > 255) {
      throw refusal(
        `Input ${input.name} has dims [${input.dims}]; codec prices gives [3, n − 1], n ≤ 256.`,
        "Change the input or the codec.",
      );
    }
    return { codec, size: inner + 1, inputs, tableRows: 0, held };
  }
  if (lead !== 1 || outer < 1 || outer > 64 || inner < 1 || inner > 16) {
    throw refusal(
      `Input ${input.name} has dims [${input.dims}]; codec text gives [tokens ≤ 64, width ≤ 16].`,
      "Change the input or the codec.",
    );
  }
  return { codec, size: textBytes, inputs, tableRows: tableRowsOf(graph, input.name), held };
}

function joined(
  graph: OnnxGraph,
  codec: InputCodec,
  held: ReadonlyMap<string, OnnxType>,
  sizeOf: (input: OnnxValueInfo) => number,
  limit: number,
): InputBinding {
  let size = 0;
  const inputs = graph.inputs.map((input) => {
    const offset = size;
    size += count(input.dims) * sizeOf(input);
    return { ...input, offset };
  });
  if (size > limit) {
    const [unit, next] =
      codec === "raw"
        ? [
            "bytes",
            "Use smaller inputs, or bytes: --quantized-inputs drops a QuantizeLinear that reads an input.",
          ]
        : ["elements", "Use smaller inputs."];
    throw refusal(`The inputs have ${size} ${unit}, codec ${codec} holds ${limit}.`, next);
  }
  return { codec, size, inputs, tableRows: 0, held };
}

/** Operators that hand ids on as they are. */
export const ID_PATH: ReadonlySet<string> = new Set([
  "Identity",
  "Reshape",
  "Flatten",
  "Squeeze",
  "Unsqueeze",
  "Slice",
  "Transpose",
  "Cast",
]);

/** Rows of the constant table that the ids of `input` pick from. */
function tableRowsOf(graph: OnnxGraph, input: string): number {
  const ids = new Set([input]);
  const found = new Map<number, string>();
  const producer = new Map(graph.nodes.flatMap((n) => n.outputs.map((o) => [o, n] as const)));
  for (const node of graph.nodes) {
    const [first = "", second = ""] = node.inputs;
    if (ID_PATH.has(node.op) && ids.has(first)) for (const output of node.outputs) ids.add(output);
    if (node.op === "Gather" && ids.has(second)) {
      const source = producer.get(first);
      const table = graph.constants.get(source?.op === "DequantizeLinear" ? (source.inputs[0] ?? "") : first);
      if (table?.dims[0] !== undefined) found.set(table.dims[0], node.name);
    }
  }
  const [rows, ...others] = found.keys();
  if (rows === undefined || others.length > 0) {
    throw refusal(
      rows === undefined
        ? `The ids of input ${input} pick from no constant table (Gather).`
        : `The ids of input ${input} pick from tables of ${[...found.keys()].join(" and ")} rows.`,
      "Codec text needs one table size, because it hashes tokens to its rows.",
    );
  }
  return rows;
}

/** Emits the CODEC steps. */
export function emitInputs(builder: ProgramBuilder, binding: InputBinding): Map<string, TensorValue> {
  const values = new Map<string, TensorValue>();
  for (const { name, type, dims, offset } of binding.inputs) {
    const stored = TENSOR_TYPE[type];
    builder.node = `input ${name}`;
    const k = binding.codec === "text" ? binding.tableRows : offset;
    const fixed = binding.codec === "text" || binding.codec === "prices";
    const operand = builder.codec(stored, fixed ? dims.slice(-2) : codecDims(stored, dims), k);
    const onnx = binding.held.get(name) ?? type;
    values.set(name, { kind: "tensor", operand, type: stored, onnx, dims });
  }
  return values;
}

/** The input's own dims where a tensor of them may be judged whole, else one row. */
export function codecDims(type: TensorType, dims: readonly number[]): readonly number[] {
  if (dims.length === 0) return [1];
  const fits = dims.length <= MAX_RANK && tensorShape(type, dims).height <= MAX_WHOLE_HEIGHT;
  return fits ? dims : [count(dims)];
}
