/** Random ONNX graphs of small causal transformers: ids of a prompt and of an answer in, ids of the answer out. */
import type { TestGraph, TestNode, TestTensor } from "./onnx-file.ts";
import { node, random, scalar, scale, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

export interface CausalGraph {
  readonly graph: TestGraph;
  readonly prompt: number;
  readonly answer: number;
  readonly vocabulary: number;
}

export interface CausalOptions {
  /** how later positions are masked */
  readonly mask: "Add" | "Where" | "none";
  /** places by which the answer is shifted: 0 lets a token see itself */
  readonly shift?: number;
  readonly layers?: number;
}

const LOWEST = -65_504;

/** The inputs are `prompt` [1, P] and `answer` [1, A] of int64, the output `next` [1, A]. */
export function causalGraph(rng: Rng, { mask, shift = 1, layers = 1 }: CausalOptions): CausalGraph {
  const [prompt, answer, vocabulary] = [rng.int(1, 4), rng.int(2, 6), rng.int(6, 14)];
  const [heads, width] = [rng.int(1, 3), rng.int(1, 4) * 2];
  const length = prompt + answer - shift;
  const all = heads * width;
  const nodes: TestNode[] = [];
  const constants: Record<string, TestTensor> = {
    start: tensor("int64", [1], [0]),
    end: tensor("int64", [1], [answer - shift]),
    axis: tensor("int64", [1], [1]),
    first: tensor("int64", [1], [length - answer]),
    last: tensor("int64", [1], [length]),
    apart: tensor("int64", [4], [1, length, heads, width]),
    joined: tensor("int64", [3], [1, length, all]),
    table: random(rng, "int8", [vocabulary, all], [-127, 127]),
    tables: scalar("float32", scale(rng, 0.01)),
    places: tensor(
      "float32",
      [length, all],
      Array.from({ length: length * all }, () => rng.int(-99, 99) / 99),
    ),
    later: maskOf(mask, length),
    lowest: scalar("float32", LOWEST),
  };
  const add = (
    op: string,
    inputs: readonly string[],
    to: string,
    attributes: TestNode["attributes"] = {},
  ) => {
    nodes.push(node(op, inputs, attributes, to));
    return to;
  };
  /** Quantizes and dequantizes. */
  const quantized = (from: string, to: string, step: number, zero = 128): string => {
    constants[`${to}s`] = scalar("float32", Math.fround(step));
    constants[`${to}z`] = scalar("uint8", zero);
    add("QuantizeLinear", [from, `${to}s`, `${to}z`], `${to}q`);
    return add("DequantizeLinear", [`${to}q`, `${to}s`, `${to}z`], to);
  };
  const weights = (name: string, rows: number, columns: number): string => {
    constants[`${name}w`] = random(rng, "int8", [rows, columns], [-127, 127]);
    constants[`${name}ws`] = scalar("float32", scale(rng, 0.02 / Math.sqrt(rows)));
    return add("DequantizeLinear", [`${name}w`, `${name}ws`], `${name}f`);
  };
  const normal = (from: string, to: string): string => {
    constants[`${to}g`] = tensor(
      "float32",
      [all],
      Array.from({ length: all }, () => scale(rng, 0.7)),
    );
    return quantized(add("LayerNormalization", [from, `${to}g`], `${to}l`, { axis: -1 }), to, 0.03);
  };
  add("Slice", ["answer", "start", "end", "axis"], "seen");
  add("Concat", ["prompt", "seen"], "ids", { axis: 1 });
  add("DequantizeLinear", ["table", "tables"], "tablef");
  let state = quantized(add("Gather", ["tablef", "ids"], "found"), "words", 0.02);
  state = quantized(add("Add", [state, "places"], "placed"), "state", 0.03);
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string): string => `${name}${layer}`;
    const x = normal(state, of("x"));
    const head = (name: string): string => {
      const product = add("MatMul", [x, weights(of(name), all, all)], of(`${name}p`));
      const apart = add("Reshape", [quantized(product, of(name), 0.03), "apart"], of(`${name}a`));
      return add("Transpose", [apart], of(`${name}t`), { perm: name === "k" ? [0, 2, 3, 1] : [0, 2, 1, 3] });
    };
    const [q, k, v] = [head("q"), head("k"), head("v")];
    const scores = quantized(add("MatMul", [q, k], of("m")), of("d"), 0.06);
    const masked =
      mask === "Where"
        ? add("Where", ["later", "lowest", scores], of("e"))
        : add("Add", [scores, "later"], of("e"));
    const shares = quantized(add("Softmax", [masked], of("f"), { axis: -1 }), of("p"), 2 ** -8, 0);
    const mixed = quantized(add("MatMul", [shares, v], of("o")), of("n"), 0.03);
    const back = add("Transpose", [mixed], of("b"), { perm: [0, 2, 1, 3] });
    const rows = add("Reshape", [back, "joined"], of("j"));
    const out = quantized(add("MatMul", [rows, weights(of("w"), all, all)], of("u")), of("r"), 0.03);
    state = quantized(add("Add", [state, out], of("h")), of("s"), 0.04);
  }
  const logits = quantized(
    add("MatMul", [normal(state, "z"), weights("head", all, vocabulary)], "scores"),
    "logits",
    0.02,
  );
  add("Slice", [logits, "first", "last", "axis"], "own");
  add("ArgMax", ["own"], "next", { axis: -1, keepdims: 0 });
  const inputs = {
    prompt: { type: "int64", dims: [1, prompt] },
    answer: { type: "int64", dims: [1, answer] },
  } as const;
  return {
    graph: { nodes, inputs, outputs: { next: "int64" }, constants, opset: 17 },
    ...{ prompt, answer, vocabulary },
  };
}

/** Of a row by position, of a column by position: what comes later is 1, or the lowest number. */
function maskOf(mask: CausalOptions["mask"], length: number): TestTensor {
  const later = Array.from({ length: length ** 2 }, (_, i) => Number(i % length > Math.floor(i / length)));
  const dims = [1, 1, length, length];
  if (mask === "Where") return tensor("bool", dims, later);
  return tensor(
    "float32",
    dims,
    later.map((is) => (mask === "none" || is === 0 ? 0 : LOWEST)),
  );
}
