import type { ChannelParameters } from "../program/weights.ts";

/** Stored byte of an accumulator by a parameter word. Source: docs/EXACT.md, opcode DOT.
 *  @param acc s32, after bias′ */
export function requantizedByte(
  acc: number,
  channel: ChannelParameters,
  form: "integer" | "binary32",
): number {
  const q = form === "integer" ? shifted(acc, channel) : scaled(acc, channel.scaleBits);
  return Math.min(Math.max(q + channel.zeroPoint, channel.lower), channel.upper);
}

function shifted(acc: number, { multiplier, addend, shift }: ChannelParameters): number {
  const sum = BigInt.asIntN(64, BigInt(acc) * BigInt(multiplier) + addend);
  return Number(sum >> BigInt(shift & 63));
}

function scaled(acc: number, scaleBits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, scaleBits);
  const product = Math.fround(Math.fround(acc) * view.getFloat32(0));
  if (Number.isNaN(product)) return 0;
  const floor = Math.floor(product);
  const rest = product - floor;
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  return Math.min(Math.max(up ? floor + 1 : floor, -(2 ** 31)), 2 ** 31 - 1);
}
