/** Parts of random ONNX graphs: what comes before an operator. */
import type { OnnxType } from "../../inference/onnx/graph.ts";
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { type Generator, node, random, scalar, scale, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

/** Nodes on r, binary32 made of an int32 input. */
export const real =
  (
    nodes: readonly TestNode[],
    range: readonly [number, number],
    make: (rng: Rng) => Record<string, TestTensor>,
    output: OnnxType = "float32",
  ): Generator =>
  (rng) => ({
    graph: {
      nodes: [
        node("Clip", ["x", "lo", "hi"], {}, "i"),
        node("Cast", ["i"], { to: 1 }, "c"),
        node("Mul", ["c", "f"], {}, "r"),
        ...nodes,
      ],
      inputs: { x: { type: "int32", dims: [6, 50] } },
      outputs: { y: output },
      constants: {
        lo: scalar("int32", range[0]),
        hi: scalar("int32", range[1]),
        f: scalar("float32", scale(rng, 0.01)),
        ...make(rng),
      },
    },
    ranges: { x: [range[0] - 5, range[1] + 5] },
  });
export const vector = (rng: Rng): Record<string, TestTensor> => ({
  h: tensor(
    "float32",
    [50],
    Array.from({ length: 50 }, () => scale(rng, 0.3)),
  ),
});
export const WIDE = [-30_000, 30_000] as const;

/** Operators on i, int32; l and u are bounds for a Clip after which values are often equal. */
export const whole =
  (
    nodes: readonly TestNode[],
    make: (rng: Rng) => Record<string, TestTensor> = () => ({}),
    output: OnnxType = "int32",
    dims: readonly number[] = [4, 6, 10],
  ): Generator =>
  (rng) => ({
    graph: {
      nodes: [node("Clip", ["x", "lo", "hi"], {}, "i"), ...nodes],
      inputs: { x: { type: "int32", dims } },
      outputs: { y: output },
      constants: {
        lo: scalar("int32", -20_000),
        hi: scalar("int32", 20_000),
        l: scalar("int32", -3),
        u: scalar("int32", 3),
        ...make(rng),
      },
    },
    ranges: { x: [-25_000, 25_000] },
  });
export const numbers =
  (low: number, high: number) =>
  (rng: Rng): Record<string, TestTensor> => ({ h: random(rng, "int32", [10], [low, high]) });
export const i64 = (...data: number[]): TestTensor => tensor("int64", [data.length], data);
