/** Products of two computed tensors of 8 or 16 bits that QuantizeLinear requantizes: 16 bits as two bytes each. */

import { activationProduct, type Factor } from "./activations.ts";
import type { Lowering } from "./lowering.ts";
import { isWide } from "./quantization.ts";
import { type ScaledValue, scaledIntegers, type TensorValue } from "./values.ts";
import { type EmittedAccumulators, type Half, halvesOf, joined } from "./wide.ts";

/** The product of two dequantized tensors, which QuantizeLinear requantizes. */
export function scaledProduct(
  ctx: Lowering,
  a: Factor & { readonly scale: number },
  b: Factor & { readonly scale: number },
): ScaledValue {
  const parts = bytesOf(a) * bytesOf(b);
  const { source, unit } = byBytes(ctx, a, (left) =>
    byBytes(ctx, b, (right) => ({ source: activationProduct(ctx, left, right, parts), unit: 1 })),
  );
  return scaledIntegers(source, b.scale, a.scale * unit);
}

/** Of an element. */
const bytesOf = ({ tensor }: Factor): number => (isWide(tensor.onnx) ? 2 : 1);

/** The sums of a factor of bytes, or of both bytes of one of 16 bits. */
function byBytes(
  ctx: Lowering,
  factor: Factor,
  sums: (bytes: Factor) => EmittedAccumulators,
): EmittedAccumulators {
  if (bytesOf(factor) === 1) return sums(factor);
  const { high, low } = halvesOf(ctx, factor.tensor, factor.zero);
  return joined(ctx, sums(signed(ctx, high)), sums(low));
}

/** The upper byte as int8, whose zero point is 0 where that of an int16 tensor is: nothing is to be taken away then. */
function signed(ctx: Lowering, { tensor, zero }: Half): Half {
  const { builder } = ctx;
  const make = () => builder.arith("sub", "s8", tensor.operand, builder.s32(128));
  const shifted: TensorValue = ctx.like(tensor, ctx.once(`${tensor.operand} signed`, make), "int8");
  return { tensor: shifted, zero: zero - 128 };
}
