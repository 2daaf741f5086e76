import { quantum, shiftedSum } from "../opcodes/rounding.ts";
import { floatOfBits } from "../program/tensor.ts";
import type { ChannelParameters } from "../program/weights.ts";

/** Stored byte of an accumulator by a parameter word. Source: docs/EXACT.md, opcode DOT.
 *  @param acc s32, after bias′ */
export function requantizedByte(
  acc: number,
  channel: ChannelParameters,
  form: "integer" | "binary32",
): number {
  const q =
    form === "integer"
      ? Number(shiftedSum(acc, channel))
      : quantum(Math.fround(Math.fround(acc) * floatOfBits(channel.scaleBits)));
  return Math.min(Math.max(q + channel.zeroPoint, channel.lower), channel.upper);
}
