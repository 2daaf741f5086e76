/** Random graphs of operators on float32 that nobody quantized, quantized behind them. */
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { microsoft, node } from "./onnx-nodes.ts";
import { type Generator, random, scalar, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

const [ROWS, LENGTH] = [4, 10];

type Constants = Readonly<Record<string, TestTensor>>;
const reals = (rng: Rng, ...dims: number[]): TestTensor => {
  const { data } = random(rng, "int32", dims, [-1000, 1000]);
  return tensor(
    "float32",
    dims,
    data.map((v) => Math.fround(v / 700)),
  );
};

/** @param nodes from v, float32 [4, 10], to p @param unit of p */
const real =
  (nodes: readonly TestNode[], unit: number, constants: (rng: Rng) => Constants = () => ({})): Generator =>
  (rng) => ({
    graph: {
      nodes: [node("Mul", ["x", "f"], {}, "v"), ...nodes, node("QuantizeLinear", ["p", "s", "z"])],
      inputs: { x: { type: "float32", dims: [ROWS, LENGTH] } },
      outputs: { y: "uint8" },
      constants: {
        f: scalar("float32", Math.fround(rng.int(2, 40) / 90)),
        s: scalar("float32", Math.fround(unit)),
        z: scalar("uint8", 128),
        ...constants(rng),
      },
      opset: 17,
    },
    ranges: { x: [-9, 9] },
  });

const single = (op: string, unit: number): Generator => real([node(op, ["v"], {}, "p")], unit);
const contributed = (op: string, unit: number): Generator =>
  real([{ ...microsoft(op, ["v"]), outputs: ["p"] }], unit);
const reduced = (op: string): Generator =>
  real([node(op, ["v"], { axes: [0] }, "u"), node("Add", ["u", "v"], {}, "p")], 0.2);
const mask = -3.4028234663852886e38;

export const REAL_GRAPHS: Readonly<Record<string, Generator>> = {
  "MatMul of float32": real([node("MatMul", ["v", "w"], {}, "p")], 0.4, (rng) => ({
    w: reals(rng, LENGTH, 7),
  })),
  "MatMul of computed float32": real(
    [node("Transpose", ["v"], { perm: [1, 0] }, "u"), node("MatMul", ["v", "u"], {}, "p")],
    1,
  ),
  "Gemm of float32": real(
    [node("Gemm", ["v", "w", "b"], { transB: 1, alpha: { f: 0.5 } }, "p")],
    0.4,
    (rng) => ({ w: reals(rng, 6, LENGTH), b: reals(rng, 6) }),
  ),
  "Conv of float32": real(
    [
      node("Reshape", ["v", "dims"], {}, "u"),
      node("Conv", ["u", "w", "b"], { pads: [1, 0, 1, 1], strides: [1, 2], group: 2 }, "p"),
    ],
    0.3,
    (rng) => ({ dims: tensor("int64", [4], [1, 4, 2, 5]), w: reals(rng, 6, 2, 2, 2), b: reals(rng, 6) }),
  ),
  "ReduceMean of float32": reduced("ReduceMean"),
  "Softmax of float32": single("Softmax", 1 / 300),
  "masked Softmax of float32": real(
    [
      node("Less", ["x", "k"], {}, "c"),
      node("Cast", ["c"], { to: 1 }, "m"),
      node("Mul", ["m", "least"], {}, "n"),
      node("Add", ["v", "n"], {}, "u"),
      node("Softmax", ["u"], {}, "p"),
    ],
    1 / 300,
    () => ({ k: scalar("float32", -3), least: scalar("float32", mask) }),
  ),
  "LogSoftmax of float32": single("LogSoftmax", 0.1),
  "LayerNormalization of float32": real(
    [node("LayerNormalization", ["v", "g", "h"], { axis: -1 }, "p")],
    0.05,
    (rng) => ({ g: reals(rng, LENGTH), h: reals(rng, LENGTH) }),
  ),
  "LayerNormalization written out": real(
    [
      node("ReduceMean", ["v"], { axes: [-1] }, "m"),
      node("Sub", ["v", "m"], {}, "d"),
      node("Pow", ["d", "two"], {}, "q"),
      node("ReduceMean", ["q"], { axes: [-1] }, "r"),
      node("Add", ["r", "e"], {}, "t"),
      node("Sqrt", ["t"], {}, "o"),
      node("Div", ["d", "o"], {}, "p"),
    ],
    0.05,
    () => ({ two: scalar("float32", 2), e: scalar("float32", 1e-5) }),
  ),
  "RMSNormalization written out": real(
    [
      node("Mul", ["v", "v"], {}, "q"),
      node("ReduceMean", ["q"], { axes: [-1] }, "r"),
      node("Add", ["e", "r"], {}, "t"),
      node("Sqrt", ["t"], {}, "o"),
      node("Reciprocal", ["o"], {}, "i"),
      node("Mul", ["v", "i"], {}, "p"),
    ],
    0.05,
    () => ({ e: scalar("float32", 1e-5) }),
  ),
  "Pow of float32": real([node("Pow", ["v", "three"], {}, "p")], 0.6, () => ({
    three: scalar("float32", 3),
  })),
  "Exp of float32": single("Exp", 0.5),
  "Erf of float32": single("Erf", 1 / 120),
  "Sigmoid of float32": single("Sigmoid", 1 / 120),
  "Tanh of float32": single("Tanh", 1 / 120),
  "com.microsoft Gelu of float32": contributed("Gelu", 0.03),
  "com.microsoft FastGelu of float32": contributed("FastGelu", 0.03),
  "com.microsoft QuickGelu of float32": contributed("QuickGelu", 0.03),
};
