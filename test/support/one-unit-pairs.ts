/** Two quantized tensors, or one and a constant, and one operator on them. */
import type { OnnxType } from "../../inference/onnx/graph.ts";
import type { Quantization, Quantized } from "./one-unit.ts";
import type { TestGraph, TestNode, TestTensor } from "./onnx-file.ts";
import { node, t } from "./onnx-nodes.ts";
import type { Rng } from "./rng.ts";

const LIMITS = { uint8: [0, 255], int8: [-128, 127], uint16: [0, 65_535], int16: [-32_768, 32_767] } as const;
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

export interface Operand {
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

export const real = ({ quantization: { zero, scale }, q }: Operand): number[] =>
  q.map((v) => (v - zero) * scale);

/** Element of each operand for each element of the result. */
export function broadcast(a: readonly number[], b: readonly number[]): (readonly [number, number])[] {
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
export function graphOf(
  op: string,
  a: Operand,
  b: Operand,
  isConstant: boolean,
  to: Quantization,
): TestGraph {
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
