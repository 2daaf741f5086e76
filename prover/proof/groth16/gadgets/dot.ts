import { DOT_VARIANTS, isActivationDot, isPlanesDot, rowCount } from "../../../../inference/program/form.ts";
import { type ChannelParameters, readParameters, unpackDot } from "../../../../inference/program/weights.ts";
import { type Int, narrow, shifted } from "../integer.ts";
import { LinearSum, ONE } from "../linear.ts";
import { requantize } from "../requantize.ts";
import type { Gadget, GadgetContext } from "./gadget.ts";

/** Sums of more terms than this are opaque: nothing looks for bits in them, and a circuit that only counts leaves
 *  them out. */
const MAX_TERMS = 64;

/** DOT: the sum costs nothing, weights being constants; a requantized element costs its bits. */
export const dot: Gadget = (ctx) => {
  const { circuit, step, refuse } = ctx;
  if (isActivationDot(step)) {
    refuse("multiplies activations with activations, which has no circuit", "Leave out the lane PROOF.");
  }
  if (isPlanesDot(step))
    refuse(
      "multiplies numbers of 16 bits in planes of bytes, which has no circuit",
      "Leave out the lane PROOF.",
    );
  refuseBinary32(ctx);
  const { descriptor, bytes } = ctx.weight("b");
  const [n, k] = descriptor.dims as [number, number];
  const rowBytes = 32 * (Math.ceil(k / 32) + 1);
  const weights = unpackDot(bytes, n, k);
  const channels = Array.from({ length: n }, (_, i) => readParameters(bytes, (i + 1) * rowBytes - 32));
  const source = ctx.operand("a");
  const stored = source.type === "s8" ? 128 : 0;
  const byte = step.type === "s8" ? -128n : 0n;
  const groups = step.k;
  const settled = DOT_VARIANTS[step.variant] === "s32" ? source.elements : settle(ctx, source.elements);
  const result: Int[] = [];
  for (let row = 0; row < rowCount(step.dims); row++) {
    for (let channel = 0; channel < n; channel++) {
      circuit.element(row * n + channel);
      const parameters = channels[channel] as ChannelParameters;
      const from = (row * groups + Math.floor((channel * groups) / n)) * k;
      const factors = weights.subarray(channel * k, (channel + 1) * k);
      const acc = accumulate(ctx, settled, from, factors, parameters, stored);
      if (DOT_VARIANTS[step.variant] === "s32") result.push(acc);
      else result.push(shifted(requantize(circuit, acc, parameters), byte));
    }
  }
  return result;
};

/** Rows that are still packed are split once, not for each channel. */
function settle({ circuit }: GadgetContext, elements: readonly Int[]): readonly Int[] {
  return elements.map((x) => ({ ...x, linear: circuit.settle(x.linear) }));
}

/** Σ (stored a)·(w − o) + bias′. */
function accumulate(
  { circuit }: GadgetContext,
  source: readonly Int[],
  from: number,
  weights: Uint8Array,
  { bias, weightOffset }: ChannelParameters,
  stored: number,
): Int {
  let [low, high, terms] = [bias, bias, 0];
  let offset = bias;
  for (let i = 0; i < weights.length; i++) {
    const w = (weights[i] as number) - weightOffset;
    if (w === 0) continue;
    const x = source[from + i] as Int;
    const [least, most] = [Number(x.low) + stored, Number(x.high) + stored];
    low += w * (w < 0 ? most : least);
    high += w * (w < 0 ? least : most);
    offset += w * stored;
    terms += x.linear.size;
  }
  const opaque = terms > MAX_TERMS;
  const bounds = { low: BigInt(low), high: BigInt(high) };
  if (opaque && circuit.counting) return { linear: circuit.unknown(), ...bounds, opaque };
  const sum = new LinearSum().addTerm(ONE, BigInt(offset));
  weights.forEach((byte, i) => {
    const w = byte - weightOffset;
    if (w !== 0) sum.add((source[from + i] as Int).linear, BigInt(w));
  });
  const linear = sum.done();
  return opaque ? { linear, ...bounds, opaque } : narrow({ linear, ...bounds }, bounds.low, bounds.high);
}

/** @throws BaseError NO_CIRCUIT for a step in the binary32 form */
export function refuseBinary32({ step, refuse }: GadgetContext): void {
  if (DOT_VARIANTS[step.variant] !== "binary32") return;
  refuse(
    "requantizes in binary32; only the integer form has a circuit",
    "Import the model again with --nudge, which moves scales until the integer form exists.",
  );
}
