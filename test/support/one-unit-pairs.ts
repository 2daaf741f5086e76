/** Two quantized tensors, or one and a constant, and one operator on them. */
import { expect } from "vitest";
import type { OnnxType } from "../../inference/onnx/graph.ts";
import { compareBoth } from "./both-ways.ts";
import { calibrated, LIMITS, type Quantization, type Quantized, quantize } from "./one-unit.ts";
import { onnxFile, type TestGraph, type TestNode, type TestTensor } from "./onnx-file.ts";
import { node, t } from "./onnx-nodes.ts";
import { runGraph } from "./onnx-run.ts";
import type { Rng } from "./rng.ts";

export const TYPES = ["uint8", "int8", "uint16", "int16"] as const;
export const SHAPES = [
  [[40], [40]],
  [[6, 32], [32]],
  [
    [2, 1, 8],
    [3, 8],
  ],
  [[5, 7], [1]],
  [
    [1, 4],
    [9, 1],
  ],
] as const;

interface Operand {
  readonly quantization: Quantization;
  readonly dims: readonly number[];
  readonly q: readonly number[];
}

export function operand(rng: Rng, type: Quantized, dims: readonly number[]): Operand {
  const [low, high] = LIMITS[type];
  const scale = Math.fround((rng.int(1000, 9000) / 1e6) * rng.pick([1, 30]) * (high > 255 ? 2 ** -8 : 1));
  const length = dims.reduce((a, b) => a * b, 1);
  return {
    quantization: {
      type,
      zero: rng.pick([low, high, Math.ceil((low + high) / 2), rng.int(low, high)]),
      scale,
    },
    dims,
    q: Array.from({ length }, () => rng.pick([low, high, rng.int(low, high)])),
  };
}

const real = ({ quantization: { zero, scale }, q }: Operand): number[] => q.map((v) => (v - zero) * scale);

/** Element of each operand for each element of the result. */
function broadcast(a: readonly number[], b: readonly number[]): (readonly [number, number])[] {
  const rank = Math.max(a.length, b.length);
  const padded = [a, b].map((dims) => [...Array<number>(rank - dims.length).fill(1), ...dims]);
  const dims = padded[0]?.map((d, i) => Math.max(d, padded[1]?.[i] ?? 1)) ?? [];
  const total = dims.reduce((x, y) => x * y, 1);
  return Array.from({ length: total }, (_, index) => {
    const places = padded.map((own) => {
      let [rest, at, stride] = [index, 0, 1];
      for (let axis = rank - 1; axis >= 0; axis--) {
        const i = rest % (dims[axis] as number);
        rest = Math.floor(rest / (dims[axis] as number));
        if ((own[axis] as number) > 1) at += i * stride;
        stride *= own[axis] as number;
      }
      return at;
    });
    return places as unknown as readonly [number, number];
  });
}

/** x from the input, u from another one or a constant, what the operator makes of them quantized. */
function graphOf(op: string, a: Operand, b: Operand, isConstant: boolean, to: Quantization): TestGraph {
  const constants: Record<string, TestTensor> = {};
  for (const [name, { type, scale, zero }] of Object.entries({
    ...{ x: a.quantization, u: b.quantization, p: to },
  })) {
    constants[`${name}s`] = t("float32", [], [scale]);
    constants[`${name}z`] = t(type, [], [zero]);
  }
  const enter = (name: string): TestNode[] => [
    node("QuantizeLinear", [name, `${name}s`, `${name}z`], {}, `${name}q`),
    node("DequantizeLinear", [`${name}q`, `${name}s`, `${name}z`], {}, `${name}r`),
  ];
  const float = { type: "float32" as OnnxType };
  if (isConstant) constants.ur = t("float32", b.dims, real(b).map(Math.fround));
  return {
    nodes: [
      ...enter("x"),
      ...(isConstant ? [] : enter("u")),
      node(op, ["xr", "ur"], {}, "p"),
      node("QuantizeLinear", ["p", "ps", "pz"], {}, "q"),
      node("Cast", ["q"], { to: 6 }),
    ],
    inputs: { x: { ...float, dims: a.dims }, ...(isConstant ? {} : { u: { ...float, dims: b.dims } }) },
    outputs: { y: "int32" },
    constants,
    opset: 21,
  };
}

const INTEGERS = { arithmetic: "integers" } as const;

/** What came of one operator and one type of results. */
export interface PairResult {
  readonly compared: number;
  readonly different: number;
  /** of the operator's steps */
  readonly opcodes: readonly string[];
}

/** Imports the operator in integers and runs it, for results of each type: one unit off at most.
 *  @param f the operator @param isEmitted whether onnxruntime runs the emitted file, too */
export async function measurePair(
  op: string,
  [a, b]: readonly [Operand, Operand],
  isConstant: boolean,
  f: (x: number, y: number) => number,
  isEmitted: boolean,
): Promise<readonly PairResult[]> {
  const [left, right] = [real(a), real(b)];
  const expected = broadcast(a.dims, b.dims).map(([i, j]) => f(left[i] as number, right[j] as number));
  const input = (of: Operand) => ({ type: "float32", dims: of.dims, data: real(of).map(Math.fround) });
  const inputs = { x: input(a), ...(isConstant ? {} : { u: input(b) }) };
  const results: PairResult[] = [];
  for (const type of TYPES) {
    const to = calibrated(expected, type);
    const graph = graphOf(op, a, b, isConstant, to);
    const { outputs, imported } = runGraph(graph, inputs, INTEGERS);
    const distances = expected.map((x, i) => Math.abs((outputs.y?.[i] as number) - quantize(x, to)));
    expect([a.dims, b.dims, op, isConstant, type, Math.max(...distances) <= 1]).toEqual([
      ...[a.dims, b.dims, op, isConstant, type, true],
    ]);
    results.push({
      compared: distances.length,
      different: distances.filter((d) => d > 0).length,
      // What a node is called begins with its operator.
      opcodes: imported.model.program.steps.flatMap(({ opcode }, i) =>
        imported.nodes[i]?.startsWith(op) ? [opcode] : [],
      ),
    });
    if (!isEmitted || type !== "int16") continue;
    const { emitted } = await compareBoth(op, onnxFile(graph), [inputs], { settings: INTEGERS });
    expect(emitted).toMatchObject({ different: 0 });
  }
  return results;
}
