/** Writes small ONNX files for tests. */
import onnxProto from "onnx-proto";

import { ONNX_TYPES, type OnnxType } from "../../inference/onnx/graph.ts";

const { onnx } = onnxProto;

export interface TestTensor {
  readonly type: OnnxType;
  readonly dims: readonly number[];
  readonly data: readonly number[];
}

export interface TestNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly name?: string;
  readonly domain?: string;
  /** Whole numbers are ints; wrap floats as {f: x}. */
  readonly attributes?: Readonly<
    Record<string, number | string | readonly number[] | { readonly f: number } | TestTensor>
  >;
}

export interface TestGraph {
  readonly nodes: readonly TestNode[];
  readonly inputs: Readonly<
    Record<string, { readonly type: OnnxType; readonly dims: readonly (number | string)[] }>
  >;
  readonly outputs: Readonly<Record<string, OnnxType>>;
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly opset?: number;
}

export const typeCode = (type: OnnxType): number =>
  Number(Object.entries(ONNX_TYPES).find(([, name]) => name === type)?.[0]);

function tensorProto(name: string, { type, dims, data }: TestTensor): onnxProto.onnx.ITensorProto {
  const base = { name, dims: [...dims], dataType: typeCode(type) };
  if (type === "float32") return { ...base, floatData: [...data] };
  return type === "int64" ? { ...base, int64Data: [...data] } : { ...base, int32Data: [...data] };
}

function attribute(
  name: string,
  value: NonNullable<TestNode["attributes"]>[string],
): onnxProto.onnx.IAttributeProto {
  if (typeof value === "number") return { name, type: 2, i: value };
  if (typeof value === "string") return { name, type: 3, s: new TextEncoder().encode(value) };
  if ("f" in value) return { name, type: 1, f: value.f };
  if ("data" in value) return { name, type: 4, t: tensorProto("", value) };
  return { name, type: 7, ints: [...value] };
}

export function graphProto(graph: TestGraph): onnxProto.onnx.IModelProto {
  return {
    irVersion: 8,
    opsetImport: [
      { domain: "", version: graph.opset ?? 17 },
      { domain: "com.microsoft", version: 1 },
    ],
    graph: {
      name: "test",
      node: graph.nodes.map((n) => ({
        opType: n.op,
        name: n.name ?? "",
        domain: n.domain ?? "",
        input: [...n.inputs],
        output: [...n.outputs],
        attribute: Object.entries(n.attributes ?? {}).map(([k, v]) => attribute(k, v)),
      })),
      initializer: Object.entries(graph.constants ?? {}).map(([name, t]) => tensorProto(name, t)),
      input: Object.entries(graph.inputs).map(([name, { type, dims }]) => ({
        name,
        type: {
          tensorType: {
            elemType: typeCode(type),
            shape: { dim: dims.map((d) => (typeof d === "number" ? { dimValue: d } : { dimParam: d })) },
          },
        },
      })),
      output: Object.entries(graph.outputs).map(([name, type]) => ({
        name,
        type: { tensorType: { elemType: typeCode(type) } },
      })),
    },
  };
}

export const encodeProto = (proto: onnxProto.onnx.IModelProto): Uint8Array =>
  new Uint8Array(onnx.ModelProto.encode(proto).finish());

export const onnxFile = (graph: TestGraph): Uint8Array => encodeProto(graphProto(graph));
