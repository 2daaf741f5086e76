/** Normalizations written out in single operations, as exporters before operator set 17 leave them, become one node: only
 *  of the whole is it known that no result is above √n, whatever the operand. */

import type { Attribute, OnnxGraph, OnnxNode } from "./graph.ts";
import { numbers } from "./graph.ts";
import { keeping } from "./keep.ts";

/** `Sqrt(ReduceMean(source²) + epsilon)` */
interface Root {
  readonly source: string;
  /** First of the last axes, over which the mean goes. */
  readonly axis: number;
  readonly epsilon: number;
}

class Patterns {
  private readonly producers = new Map<string, OnnxNode>();

  constructor(private readonly graph: OnnxGraph) {
    for (const node of graph.nodes) for (const name of node.outputs) this.producers.set(name, node);
  }

  /** The node that LayerNormalization or RMSNormalization replaces, or undefined. */
  normalization(node: OnnxNode): OnnxNode | undefined {
    const found = this.quotient(node);
    if (found === undefined) return undefined;
    const { numerator, root } = found;
    if (root.source !== numerator) return undefined;
    const attributes = new Map<string, Attribute>([
      ["axis", { kind: "int", value: root.axis }],
      ["epsilon", { kind: "float", value: root.epsilon }],
    ]);
    const replaced = (op: string, x: string): OnnxNode => ({
      ...node,
      op,
      domain: "",
      inputs: [x],
      attributes,
    });
    const centred = this.made(numerator, "Sub");
    const [x = "", mean = ""] = centred?.inputs ?? [];
    const average = this.made(mean, "ReduceMean");
    const isCentred = average?.inputs[0] === x && this.axisOf(average) === root.axis;
    return isCentred ? replaced("LayerNormalization", x) : replaced("RMSNormalization", numerator);
  }

  /** `numerator / root`, or `numerator · (1 / root)`. */
  private quotient(node: OnnxNode): { readonly numerator: string; readonly root: Root } | undefined {
    const [a = "", b = ""] = node.inputs;
    if (node.op === "Div") {
      const root = this.root(b);
      return root === undefined ? undefined : { numerator: a, root };
    }
    if (node.op !== "Mul") return undefined;
    for (const [numerator, factor] of [
      [a, b],
      [b, a],
    ] as const) {
      const reciprocal = this.made(factor, "Reciprocal");
      const quotient = this.made(factor, "Div");
      const isReciprocal = quotient !== undefined && this.number(quotient.inputs[0]) === 1;
      const under = reciprocal?.inputs[0] ?? (isReciprocal ? quotient.inputs[1] : undefined);
      const root = under === undefined ? undefined : this.root(under);
      if (root !== undefined) return { numerator, root };
    }
    return undefined;
  }

  private root(name: string): Root | undefined {
    const sum = this.made(this.made(name, "Sqrt")?.inputs[0], "Add");
    if (sum === undefined) return undefined;
    for (const [mean, constant] of [sum.inputs, [...sum.inputs].reverse()]) {
      const average = this.made(mean, "ReduceMean");
      const epsilon = this.number(constant);
      const axis = average === undefined ? undefined : this.axisOf(average);
      const source = average === undefined ? undefined : this.squared(average.inputs[0]);
      if (epsilon !== undefined && epsilon >= 0 && axis !== undefined && source !== undefined) {
        return { source, axis, epsilon };
      }
    }
    return undefined;
  }

  private squared(name: string | undefined): string | undefined {
    const power = this.made(name, "Pow");
    if (power !== undefined) return this.number(power.inputs[1]) === 2 ? power.inputs[0] : undefined;
    const product = this.made(name, "Mul");
    return product !== undefined && product.inputs[0] === product.inputs[1] ? product.inputs[0] : undefined;
  }

  /** The first of the axes, if they are the last ones and stay as axes of size 1. */
  private axisOf(node: OnnxNode): number | undefined {
    const keepdims = node.attributes.get("keepdims");
    if (keepdims?.kind === "int" && keepdims.value === 0) return undefined;
    const attribute = node.attributes.get("axes");
    const given = attribute?.kind === "ints" ? attribute.value : this.constant(node.inputs[1]);
    const rank = this.graph.declared.get(node.inputs[0] ?? "")?.dims.length ?? 0;
    const axes = given?.map((axis) => (axis < 0 ? axis : axis - rank)).sort((a, b) => a - b);
    if (axes === undefined || axes.some((axis, i) => axis !== i - axes.length)) return undefined;
    return axes[0];
  }

  private made(name: string | undefined, op: string): OnnxNode | undefined {
    const node = this.producers.get(name ?? "");
    return node?.op === op && node.domain === "" ? node : undefined;
  }

  private constant(name: string | undefined): number[] | undefined {
    const value = this.made(name, "Constant")?.attributes.get("value");
    const tensor =
      this.graph.constants.get(name ?? "") ?? (value?.kind === "tensor" ? value.value : undefined);
    return tensor === undefined ? undefined : numbers(tensor);
  }

  /** The only number of a constant. */
  private number(name: string | undefined): number | undefined {
    const list = this.constant(name);
    return list?.length === 1 ? list[0] : undefined;
  }
}

/** The graph with its normalizations as one node each, and without what only they read. */
export function withNormalizations(graph: OnnxGraph): OnnxGraph {
  const patterns = new Patterns(graph);
  let isChanged = false;
  const nodes = graph.nodes.map((node) => {
    const found = patterns.normalization(node);
    isChanged ||= found !== undefined;
    return found ?? node;
  });
  return isChanged
    ? keeping(
        { ...graph, nodes },
        graph.outputs.map(({ name }) => name),
      )
    : graph;
}
