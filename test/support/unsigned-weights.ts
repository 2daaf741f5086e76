/** A model whose products have unsigned weights. On CPUs with AVX2 and without VNNI, onnxruntime adds pairs of products
 *  u8·s8 in 16 bits, where they saturate: what it makes of a file with s8 weights is not what the file says. The same
 *  weights as u8, with zero points 128 higher, are the same function and are computed exactly everywhere. */
import { decode } from "../../inference/onnx/proto/decode.ts";
import { encode } from "../../inference/onnx/proto/encode.ts";
import type { Message } from "../../inference/onnx/proto/schema.ts";

const [UINT8, INT8] = [2, 3];

/** Operands of the products: second factor and its zero point. */
const FACTORS: Readonly<Record<string, readonly [factor: number, zeroPoint: number]>> = {
  QLinearMatMul: [3, 5],
  QLinearConv: [3, 5],
  QGemm: [3, 5],
  MatMulInteger: [1, 3],
  ConvInteger: [1, 3],
};

/** @returns the file with every s8 constant that is a second factor, and its zero point, as u8 */
export function withUnsignedWeights(file: Uint8Array): Uint8Array {
  const model = decode("Model", file);
  const graph = model.graph as Message<"Graph">;
  const initializers = graph.initializer ?? [];
  const constants = new Map(initializers.map((tensor) => [tensor.name, tensor]));
  for (const node of graph.node ?? []) {
    const operands = FACTORS[node.opType ?? ""];
    const inputs = node.input ?? [];
    if (operands === undefined) continue;
    const [factor, zeroPoint] = operands.map((place) => constants.get(inputs[place] ?? ""));
    if (factor?.dataType !== INT8) continue;
    const name = `${factor.name}.unsigned`;
    initializers.push({ ...unsigned(factor), name });
    initializers.push({
      ...unsigned(zeroPoint ?? { dims: [], rawData: new Uint8Array(1) }),
      name: `${name}.zero`,
    });
    // An operand that is left out has no name.
    while (inputs.length < operands[1]) inputs.push("");
    inputs[operands[0]] = name;
    inputs[operands[1]] = `${name}.zero`;
  }
  return encode("Model", { ...model, graph: { ...graph, initializer: initializers } });
}

function unsigned({ dims, rawData, int32Data }: Message<"Tensor">): Message<"Tensor"> {
  const bytes = (rawData?.length ?? 0) > 0 ? (rawData as Uint8Array) : Uint8Array.from(int32Data ?? []);
  return { dims: dims ?? [], dataType: UINT8, rawData: bytes.map((byte) => byte ^ 0x80) };
}
