/** Writes small ONNX files for tests. */
import { ONNX_TYPES, type OnnxType } from "../../inference/onnx/graph.ts";
import { encode } from "../../inference/onnx/proto/encode.ts";
import type { Message } from "../../inference/onnx/proto/schema.ts";

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
  /** Whole numbers are ints; wrap floats as {f: x}, lists of them as {floats}. */
  readonly attributes?: Readonly<
    Record<
      string,
      | number
      | string
      | readonly number[]
      | { readonly f: number }
      | { readonly floats: readonly number[] }
      | { readonly strings: readonly string[] }
      | TestTensor
    >
  >;
}

export interface TestGraph {
  readonly nodes: readonly TestNode[];
  readonly inputs: Readonly<
    Record<string, { readonly type: OnnxType; readonly dims: readonly (number | string)[] }>
  >;
  /** undefined leaves the type open. */
  readonly outputs: Readonly<Record<string, OnnxType | "string" | undefined>>;
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly opset?: number;
  /** What the file says of values between its nodes. */
  readonly declared?: Readonly<Record<string, { readonly type: OnnxType; readonly dims: readonly number[] }>>;
}

export const typeCode = (type: OnnxType | "string"): number =>
  type === "string" ? 8 : Number(Object.entries(ONNX_TYPES).find(([, name]) => name === type)?.[0]);

function tensorProto(name: string, { type, dims, data }: TestTensor): Message<"Tensor"> {
  const base = { name, dims: [...dims], dataType: typeCode(type) };
  if (type === "float32") return { ...base, floatData: [...data] };
  return type === "int64" ? { ...base, int64Data: [...data] } : { ...base, int32Data: [...data] };
}

function attribute(name: string, value: NonNullable<TestNode["attributes"]>[string]): Message<"Attribute"> {
  if (typeof value === "number") return { name, type: 2, i: value };
  if (typeof value === "string") return { name, type: 3, s: new TextEncoder().encode(value) };
  if ("f" in value) return { name, type: 1, f: value.f };
  if ("floats" in value) return { name, type: 6, floats: [...value.floats] };
  if ("strings" in value) {
    return { name, type: 8, strings: value.strings.map((text) => new TextEncoder().encode(text)) };
  }
  if ("data" in value) return { name, type: 4, t: tensorProto("", value) };
  return { name, type: 7, ints: [...value] };
}

export function graphProto(graph: TestGraph): Message<"Model"> & { graph: Message<"Graph"> } {
  return {
    irVersion: 8,
    opsetImport: [
      { domain: "", version: graph.opset ?? 17 },
      { domain: "com.microsoft", version: 1 },
      // From 5 on the two older tree operators are gone.
      { domain: "ai.onnx.ml", version: graph.nodes.some(({ op }) => op === "TreeEnsemble") ? 5 : 3 },
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
        type: type === undefined ? {} : { tensorType: { elemType: typeCode(type) } },
      })),
      valueInfo: Object.entries(graph.declared ?? {}).map(([name, { type, dims }]) => ({
        name,
        type: {
          tensorType: { elemType: typeCode(type), shape: { dim: dims.map((dimValue) => ({ dimValue })) } },
        },
      })),
    },
  };
}

export const encodeProto = (proto: Message<"Model">): Uint8Array => encode("Model", proto);

export const onnxFile = (graph: TestGraph): Uint8Array => encodeProto(graphProto(graph));
