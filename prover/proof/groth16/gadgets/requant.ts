import type { ChannelParameters } from "../../../../inference/program/weights.ts";
import { readParameters } from "../../../../inference/program/weights.ts";
import { type Int, shifted } from "../integer.ts";
import { requantize } from "../requantize.ts";
import { refuseBinary32 } from "./dot.ts";
import type { Gadget, GadgetContext } from "./gadget.ts";

/** REQUANT: as the second half of DOT. */
export const requant: Gadget = (ctx) => {
  refuseBinary32(ctx);
  const byte = ctx.step.type === "s8" ? -128n : 0n;
  return withChannels(ctx, (x, channel) => shifted(requantize(ctx.circuit, x, channel), byte));
};

/** Calls `compute` with each element plus its channel's bias′. */
export function withChannels(
  ctx: GadgetContext,
  compute: (x: Int, channel: ChannelParameters) => Int,
): Int[] {
  const { descriptor, bytes } = ctx.weight("b");
  const count = descriptor.dims[0] as number;
  const channels = Array.from({ length: count }, (_, n) => readParameters(bytes, 32 * n));
  return ctx.operand("a").elements.map((x, i) => {
    ctx.circuit.element(i);
    const channel = channels[i % count] as ChannelParameters;
    return compute(shifted(x, BigInt(channel.bias)), channel);
  });
}
