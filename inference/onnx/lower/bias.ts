/** Biases that belong into the accumulators of a product. */

import type { OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import type { Value } from "./values.ts";

/** int32 bias whose scale is that of the product, as numbers. */
export function biasOf(value: Value, factor: number, scale: readonly number[]): OnnxTensor {
  const next = "Quantize the bias to int32 with scale = activation scale × weight scale and zero point 0.";
  if (
    value.kind !== "dequantized" ||
    value.source.kind !== "constant" ||
    value.source.tensor.type !== "int32"
  ) {
    return refuse("its bias is not a dequantized int32 constant", next);
  }
  value.scale.forEach((s, i) => {
    const expected = Math.fround(factor * (scale[scale.length === 1 ? 0 : i] as number));
    if (Math.abs(s - expected) > expected * 2 ** -22 || value.zero[i] !== 0) {
      refuse(`its bias has the scale ${s} in channel ${i}, its product ${expected}`, next);
    }
  });
  return value.source.tensor;
}
