/** Reads an ONNX file into a graph. Never reads another file, and never more than the limits of proto/decode.ts. */

import type { BaseError } from "../../base/errors.ts";
import { fail } from "./fail.ts";
import {
  type Attribute,
  count,
  type OnnxGraph,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValueInfo,
  safeNumber,
} from "./graph.ts";
import { decode, tooLarge } from "./proto/decode.ts";
import type { Message } from "./proto/schema.ts";
import { Symbols } from "./symbols.ts";
import { MAX_ELEMENTS, MAX_ONNX_RANK, onnxType, readTensor } from "./tensor.ts";
import { treeOutputType } from "./trees/output-type.ts";
import { typeAdvice, typeName } from "./type-names.ts";

const OPSET_MIN = 7;
const OPSET_MAX = 28;
/** No program holds a step for each of more. */
const MAX_OPERANDS = 4096;

export interface ReadOptions {
  /** Sizes of symbolic dims, by name or by place `INPUT:AXIS`; one that is not named is 1. */
  readonly dims?: ReadonlyMap<string, number>;
}

function invalid(
  shortMessage: string,
  details: Record<string, string | number>,
  nextStep?: string,
): BaseError {
  return fail("ONNX_INVALID", shortMessage, nextStep ?? "Export the model again.", details);
}

/** @throws ONNX_MALFORMED, ONNX_TOO_LARGE, ONNX_UNSUPPORTED, ONNX_INVALID */
export function readOnnx(bytes: Uint8Array, options: ReadOptions = {}): OnnxGraph {
  const model = decode("Model", bytes);
  const graph = model.graph;
  if (graph === undefined) throw invalid("The ONNX file has no graph.", {});
  const opset = readOpset(model.opsetImport ?? [], graph.node ?? []);
  const constants = new Map<string, OnnxTensor>();
  for (const proto of graph.initializer ?? []) {
    const name = proto.name ?? "";
    if (name === "") throw invalid("An initializer has no name.", {});
    if (constants.has(name)) throw invalid(`Two initializers are called ${name}.`, { tensor: name });
    constants.set(name, readTensor(proto, name));
  }
  const inputs: OnnxValueInfo[] = [];
  const symbols = new Symbols(options.dims ?? new Map());
  for (const info of graph.input ?? []) {
    if (!constants.has(info.name ?? "")) inputs.push(readInput(info, symbols));
  }
  const nodes = order(
    (graph.node ?? []).map(readNode),
    new Set([...inputs.map((i) => i.name), ...constants.keys()]),
  );
  const outputs = (graph.output ?? []).map((info) => {
    const code = info.type?.tensorType?.elemType ?? 0;
    const type = onnxType(code) ?? treeOutputType(nodes, info.name ?? "");
    // 0: the file leaves the type open, and it is what the node makes.
    if (type === undefined && code !== 0) throw badType(`output ${info.name ?? ""}`, code);
    return { name: info.name ?? "", type };
  });
  if (outputs.length === 0) throw invalid("The graph has no output.", {});
  checkNames(inputs, outputs, nodes, constants);
  const defaulted = symbols.defaulted();
  const declared = new Map<string, Omit<OnnxValueInfo, "name">>();
  for (const info of [...(graph.valueInfo ?? []), ...(graph.output ?? [])]) {
    const known = readDeclared(info, options.dims ?? new Map());
    if (known !== undefined) declared.set(info.name ?? "", known);
  }
  return { name: graph.name ?? "", opset, inputs, defaulted, outputs, declared, nodes, constants };
}

/** A graph without a standard operator needs no version of them. */
function readOpset(imports: readonly Message<"Opset">[], nodes: readonly Message<"Node">[]): number {
  const isStandard = nodes.some(({ domain = "" }) => domain === "" || domain === "ai.onnx");
  let opset: number | undefined = isStandard ? undefined : OPSET_MAX;
  for (const entry of imports) {
    const domain = entry.domain ?? "";
    if (domain === "" || domain === "ai.onnx") opset = safeNumber(BigInt(entry.version ?? 0));
  }
  if (opset === undefined || opset < OPSET_MIN || opset > OPSET_MAX) {
    throw fail(
      "ONNX_UNSUPPORTED",
      `The model uses operator set ${opset ?? "none"}; ${OPSET_MIN} to ${OPSET_MAX} are read.`,
      "Convert the model to one of them.",
      { opset: opset ?? 0 },
    );
  }
  return opset;
}

function badType(label: string, code: number): BaseError {
  return fail(
    "ONNX_UNSUPPORTED",
    `The ${label} is ${typeName(code)}, which no program holds.`,
    typeAdvice(code),
    { type: code },
  );
}

function readInput(info: Message<"ValueInfo">, symbols: Symbols): OnnxValueInfo {
  const name = info.name ?? "";
  const tensor = info.type?.tensorType;
  const type = onnxType(tensor?.elemType);
  if (type === undefined) throw badType(`input ${name}`, tensor?.elemType ?? 0);
  if (tensor?.shape === undefined) {
    throw invalid(`Input ${name} has no shape.`, { input: name }, "Declare the input's rank and dims.");
  }
  const dims = (tensor.shape.dim ?? []).map((dim, axis) => symbols.sizeOf(name, axis, dim));
  if (dims.some((d) => d < 1) || count(dims) > MAX_ELEMENTS || dims.length > MAX_ONNX_RANK) {
    throw invalid(
      `Input ${name} has the dims ${dims.join("x")}; each must be at least 1, the product at most ${MAX_ELEMENTS}.`,
      { input: name },
      "Give symbolic dims a size with --dim NAME=N.",
    );
  }
  return { name, type, dims };
}

/** Type and dims of a value between nodes, where the file has both; a symbolic dim as the inputs have it. */
function readDeclared(
  info: Message<"ValueInfo">,
  sizes: ReadonlyMap<string, number>,
): Omit<OnnxValueInfo, "name"> | undefined {
  const { elemType, shape } = info.type?.tensorType ?? {};
  const type = onnxType(elemType);
  if (type === undefined || shape === undefined || (shape.dim ?? []).length > MAX_ONNX_RANK) return undefined;
  const dims = (shape.dim ?? []).map(
    ({ dimValue, dimParam }) =>
      Math.max(safeNumber(BigInt(dimValue ?? 0)), 0) || (sizes.get(dimParam ?? "") ?? 1),
  );
  return dims.every((d) => d >= 1) && count(dims) <= MAX_ELEMENTS ? { type, dims } : undefined;
}

function readNode(proto: Message<"Node">, index: number): OnnxNode {
  const op = proto.opType ?? "";
  const name = proto.name || `${op}#${index}`;
  const domain = proto.domain === "ai.onnx" ? "" : (proto.domain ?? "");
  const attributes = new Map<string, Attribute>();
  for (const a of proto.attribute ?? []) {
    const key = a.name ?? "";
    if (attributes.has(key)) throw invalid(`Node ${name} has the attribute ${key} twice.`, { node: name });
    attributes.set(key, readAttribute(a, `${name}.${key}`));
  }
  const [inputs, outputs] = [proto.input ?? [], proto.output ?? []];
  const most = Math.max(inputs.length, outputs.length);
  if (most > MAX_OPERANDS) throw tooLarge(`inputs or outputs of node ${name}`, most, MAX_OPERANDS);
  return { name, op, domain, inputs, outputs, attributes };
}

function readAttribute(a: Message<"Attribute">, label: string): Attribute {
  switch (a.type) {
    case 1:
      return { kind: "float", value: a.f ?? 0 };
    case 2:
      return { kind: "int", value: safeNumber(BigInt(a.i ?? 0)) };
    case 3:
      return { kind: "string", value: new TextDecoder().decode(a.s ?? new Uint8Array(0)) };
    case 4:
      return a.t === undefined
        ? { kind: "other", value: "empty tensor" }
        : { kind: "tensor", value: readTensor(a.t, label) };
    case 6:
      return { kind: "floats", value: Array.from(a.floats ?? []) };
    case 7:
      return { kind: "ints", value: Array.from(a.ints ?? [], (i) => safeNumber(BigInt(i))) };
    case 8:
      return { kind: "strings", value: (a.strings ?? []).map((s) => new TextDecoder().decode(s)) };
    case 5:
    case 10:
      return { kind: "other", value: "subgraph" };
    default:
      return { kind: "other", value: `attribute type ${a.type ?? 0}` };
  }
}

/** Sorts nodes so that each follows the producers of its inputs, keeping the file's order where it is free. */
function order(nodes: readonly OnnxNode[], known: Set<string>): OnnxNode[] {
  const producer = new Map<string, number>();
  nodes.forEach((node, i) => {
    for (const output of node.outputs.filter((o) => o !== "")) {
      if (known.has(output) || producer.has(output)) {
        throw invalid(`The value ${output} is defined twice.`, { node: node.name, value: output });
      }
      producer.set(output, i);
    }
  });
  const sorted: OnnxNode[] = [];
  const state = new Uint8Array(nodes.length); // 0 new, 1 on the path, 2 done
  for (let root = 0; root < nodes.length; root++) {
    if (state[root] !== 0) continue;
    const path: { node: number; next: number }[] = [{ node: root, next: 0 }];
    state[root] = 1;
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const node = nodes[top.node] as OnnxNode;
      const input = node.inputs[top.next++];
      if (input === undefined) {
        state[top.node] = 2;
        sorted.push(node);
        path.pop();
      } else if (input !== "" && !known.has(input)) {
        const from = producer.get(input);
        if (from === undefined) {
          throw invalid(`Node ${node.name} reads ${input}, which is no input, initializer or output.`, {
            node: node.name,
            value: input,
          });
        }
        if (state[from] === 1) throw invalid(`Node ${node.name} is part of a cycle.`, { node: node.name });
        if (state[from] === 0) {
          state[from] = 1;
          path.push({ node: from, next: 0 });
        }
      }
    }
  }
  return sorted;
}

function checkNames(
  inputs: readonly OnnxValueInfo[],
  outputs: readonly { readonly name: string }[],
  nodes: readonly OnnxNode[],
  constants: ReadonlyMap<string, OnnxTensor>,
): void {
  const produced = new Set([...inputs.map((i) => i.name), ...constants.keys()]);
  if (new Set(inputs.map((i) => i.name)).size !== inputs.length)
    throw invalid("Two inputs have the same name.", {});
  if (new Set(outputs.map((o) => o.name)).size !== outputs.length) {
    throw invalid("Two outputs have the same name.", {});
  }
  for (const node of nodes) for (const output of node.outputs) produced.add(output);
  for (const { name } of outputs) {
    if (!produced.has(name)) throw invalid(`The output ${name} is produced by no node.`, { output: name });
  }
}
