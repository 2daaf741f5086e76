/** Float networks of Gemm and Relu, for circuits by ezkl. */

import { onnxFile, type TestNode, type TestTensor } from "./onnx-file.ts";
import type { Rng } from "./rng.ts";

export interface FloatLayer {
  /** [inputs, outputs], row-major */
  readonly weights: readonly number[];
  readonly bias: readonly number[];
}

/** Layers between consecutive widths, uniform weights of the size that keeps activations near 1. */
export function randomLayers(rng: Rng, widths: readonly number[]): FloatLayer[] {
  const uniform = (size: number): number => Math.fround((rng.int(-10_000, 10_000) / 10_000) * size);
  return widths.slice(1).map((outputs, i) => {
    const inputs = widths[i] as number;
    const size = 1.7 / Math.sqrt(inputs);
    return {
      weights: Array.from({ length: inputs * outputs }, () => uniform(size)),
      bias: Array.from({ length: outputs }, () => uniform(0.1)),
    };
  });
}

/** `x` [1, inputs] to `y` [1, outputs]; Relu between layers. */
export function mlpFile(layers: readonly FloatLayer[]): Uint8Array {
  const constants: Record<string, TestTensor> = {};
  const nodes: TestNode[] = [];
  let value = "x";
  for (const [i, { weights, bias }] of layers.entries()) {
    const outputs = bias.length;
    constants[`w${i}`] = { type: "float32", dims: [weights.length / outputs, outputs], data: weights };
    constants[`b${i}`] = { type: "float32", dims: [outputs], data: bias };
    const last = i === layers.length - 1;
    nodes.push({ op: "Gemm", inputs: [value, `w${i}`, `b${i}`], outputs: [last ? "y" : `sum${i}`] });
    if (!last) nodes.push({ op: "Relu", inputs: [`sum${i}`], outputs: [`hidden${i}`] });
    value = `hidden${i}`;
  }
  const inputs = (layers[0]?.weights.length ?? 0) / (layers[0]?.bias.length ?? 1);
  return onnxFile({
    nodes,
    inputs: { x: { type: "float32", dims: [1, inputs] } },
    outputs: { y: "float32" },
    constants,
  });
}

/** The network in binary64. */
export function runLayers(layers: readonly FloatLayer[], input: readonly number[]): number[] {
  return layers.reduce<number[]>(
    (held, { weights, bias }, i) => {
      const sums = bias.map((b, o) =>
        held.reduce((sum, x, k) => sum + x * (weights[k * bias.length + o] as number), b),
      );
      return i === layers.length - 1 ? sums : sums.map((sum) => Math.max(0, sum));
    },
    [...input],
  );
}
