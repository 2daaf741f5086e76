/** Inputs that are given in another type than the file declares: int64 ids as int32, and numbers that the graph quantizes
 *  first as the bytes that it makes of them. */

import { fail } from "./fail.ts";
import { numbers, type OnnxGraph, type OnnxNode, type OnnxTensor, type OnnxType } from "./graph.ts";
import { ID_PATH } from "./inputs.ts";

export interface InputTypes {
  /** By input: int32 for one that the file declares as int64, uint8 or int8 for one that a QuantizeLinear reads. */
  readonly types: ReadonlyMap<string, string>;
  /** True where every input that only a QuantizeLinear reads is given as bytes. */
  readonly quantized: boolean;
}

export interface RetypedGraph {
  readonly graph: OnnxGraph;
  /** Types in the file of inputs that keep it inside of the graph: int64, held as s32. */
  readonly held: ReadonlyMap<string, OnnxType>;
  readonly notes: readonly string[];
}

/** @throws IMPORT_CODEC for an input that is not there, or that cannot have the type */
export function retyped(graph: OnnxGraph, { types, quantized }: InputTypes): RetypedGraph {
  const held = new Map<string, OnnxType>();
  const notes: string[] = [];
  const dropped = new Map<OnnxNode, OnnxNode>();
  for (const name of types.keys()) {
    if (!graph.inputs.some((input) => input.name === name)) {
      const all = graph.inputs.map((input) => input.name).join(", ");
      throw fail("IMPORT_CODEC", `--input-type names ${name}; the inputs are ${all}.`, "Name one of them.");
    }
  }
  const inputs = graph.inputs.map((input) => {
    const { name, type } = input;
    const asked = types.get(name) ?? type;
    if (type === "int64" && (asked === "int32" || (!types.has(name) && isLookedUp(graph, name)))) {
      held.set(name, type);
      if (!types.has(name)) notes.push(`input ${name} is given as int32: the graph only looks it up`);
      return { ...input, type: "int32" as const };
    }
    const quantizers = type === "float32" ? quantizersOf(graph, name) : undefined;
    if (quantizers !== undefined && (asked === quantizers.type || (quantized && asked === type))) {
      for (const node of quantizers.nodes) {
        dropped.set(node, { ...node, op: "Identity", inputs: [name], attributes: new Map() });
      }
      const { scale, zero } = quantizers;
      notes.push(`input ${name} is given as ${quantizers.type}: round(number / ${scale}) + ${zero}`);
      return { ...input, type: quantizers.type };
    }
    if (asked === type) return input;
    throw fail(
      "IMPORT_CODEC",
      `Input ${name} is ${type} in the file and cannot be given as ${asked}.`,
      "An int64 input can be given as int32, a float32 one that only QuantizeLinear reads as the bytes that it makes.",
    );
  });
  if (quantized && dropped.size === 0) {
    throw fail(
      "IMPORT_CODEC",
      "--quantized-inputs: no input is read by QuantizeLinear alone, with one constant scale to uint8 or int8.",
      "Leave the option out, or quantize the file (docs/IMPORT.md).",
    );
  }
  const nodes = graph.nodes.map((node) => dropped.get(node) ?? node);
  return { graph: { ...graph, inputs, nodes }, held, notes };
}

/** True where every reader hands the numbers on as they are, until Gather picks by them or Cast gives another type. */
function isLookedUp(graph: OnnxGraph, input: string): boolean {
  const ids = new Set([input]);
  for (const node of graph.nodes) {
    const at = node.inputs.flatMap((name, i) => (ids.has(name) ? [i] : []));
    if (at.length === 0 || node.op === "Cast" || node.op === "Shape") continue;
    const isId = node.op === "Gather" || node.op === "GatherElements";
    if (isId && at.every((i) => i === 1)) continue;
    if (!ID_PATH.has(node.op) || at.some((i) => i !== 0)) return false;
    for (const output of node.outputs) ids.add(output);
  }
  return !graph.outputs.some((output) => ids.has(output.name));
}

interface Quantizers {
  readonly nodes: readonly OnnxNode[];
  readonly type: "uint8" | "int8";
  readonly scale: number;
  readonly zero: number;
}

/** The readers of an input, if they all quantize it to bytes by one constant scale and zero point. */
function quantizersOf(graph: OnnxGraph, input: string): Quantizers | undefined {
  const nodes = graph.nodes.filter((node) => node.inputs.includes(input));
  const isKept = graph.outputs.some((output) => output.name === input);
  const all = nodes.map((node) => quantizerOf(graph, node, input));
  const [first] = all;
  const same = all.every(
    (q) => q !== undefined && q.scale === first?.scale && q.zero === first?.zero && q.type === first?.type,
  );
  return first === undefined || isKept || !same ? undefined : { ...first, nodes };
}

function quantizerOf(graph: OnnxGraph, node: OnnxNode, input: string): Omit<Quantizers, "nodes"> | undefined {
  if (node.op !== "QuantizeLinear" || node.inputs.indexOf(input) !== node.inputs.lastIndexOf(input)) return;
  const [, scaleName = "", zeroName = ""] = node.inputs;
  const [scale, zero] = [graph.constants.get(scaleName), graph.constants.get(zeroName)];
  const type = zero?.type ?? "uint8";
  const s = one(scale);
  const z = zeroName === "" ? 0 : one(zero);
  if (s === undefined || z === undefined || (type !== "uint8" && type !== "int8")) return;
  return node.attributes.has("output_dtype") ? undefined : { type, scale: s, zero: z };
}

function one(tensor: OnnxTensor | undefined): number | undefined {
  const list = tensor === undefined ? [] : numbers(tensor);
  return list.length === 1 ? list[0] : undefined;
}
