/** The integer form of a requantization. Source: docs/EXACT.md, section 3, DOT. */
import type { ChannelParameters } from "../../../inference/program/weights.ts";
import { bitsOf, minimum, noneOf, product, shiftRight, signBits } from "./bits.ts";
import type { Circuit } from "./circuit.ts";
import { bitLength, constant, type Int, narrow, number, shifted, sum } from "./integer.ts";

/** The stored byte `clamp(((acc·M + B) >> S) + zero point)`: one decomposition, whose top bit says whether the lower
 *  clamp applies and whose bits above the byte say whether the upper one does. */
export function requantize(c: Circuit, acc: Int, channel: ChannelParameters): Int {
  const { multiplier, addend, zeroPoint, lower, upper } = channel;
  const places = BigInt(channel.shift & 63);
  // x = byte − lower before the clamps, y = x · 2^S plus the bits that the shift drops.
  const offset = BigInt(zeroPoint - lower);
  const y = sum([[acc, BigInt(multiplier)]], addend + (offset << places));
  const x = { ...y, low: y.low >> places, high: y.high >> places };
  const room = BigInt(upper - lower);
  if (room <= 0n || x.low >= room) return constant(upper);
  if (x.high <= 0n) return constant(lower);
  const byte = clamped(c, y, x, Number(places), room);
  return narrow(shifted(byte, BigInt(lower)), BigInt(lower), BigInt(upper));
}

/** min(max(y >> S, 0), room). @param x bounds of y >> S */
function clamped(c: Circuit, y: Int, x: Int, places: number, room: bigint): Int {
  if (x.low >= 0n && x.high <= room) return shiftRight(c, y, places, "the scaled sum");
  const bits = bitLength(room);
  const exact = room === (1n << BigInt(bits)) - 1n;
  const k = x.low < 0n ? signBits(x) : bitLength(x.high);
  const signed = x.low < 0n;
  const lifted = signed ? shifted(y, 1n << BigInt(k + places)) : y;
  const length = places + k + (signed ? 1 : 0);
  const all = bitsOf(c, lifted, length, signed ? `the scaled sum + 2^${k + places}` : "the scaled sum");
  const positive = signed ? (all[places + k] as Int) : constant(1);
  const capped = x.high > room;
  if (!capped || !exact) {
    const value = number(all, places, places + k);
    const raised = narrow(product(c, value, positive, "the lower clamp"), 0n, x.high);
    return capped ? minimum(c, raised, constant(room), "the upper clamp") : raised;
  }
  const above = all.slice(places + bits, places + k);
  const inside = noneOf(c, above, positive, "the bits above the byte");
  const low = number(all, places, places + bits);
  return sum([
    [product(c, shifted(low, -room), inside, "the upper clamp"), 1n],
    [positive, room],
  ]);
}
