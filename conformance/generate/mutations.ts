import type { RandomProgram } from "./random-program.ts";
import type { Rng } from "./rng.ts";

/** Calldata with one thing wrong, or only different. */
export function breakCalldata(
  rng: Rng,
  { calldata, selector }: Pick<RandomProgram, "calldata" | "selector">,
): Uint8Array {
  const broken = calldata.slice();
  switch (rng.int(0, 5)) {
    case 0: {
      const at = rng.int(0, broken.length - 1);
      broken[at] = (broken[at] as number) ^ (1 << rng.int(0, 7));
      return broken;
    }
    case 1:
      return broken.subarray(0, rng.int(0, broken.length - 1));
    case 2:
      return Uint8Array.from([...broken, ...new Uint8Array(rng.pick([1, 31, 32]))]);
    case 3: {
      // A word of the heads or lengths: the offsets, the lengths, one off or far off.
      const word = 4 + 32 * rng.int(0, Math.min(6, Math.floor((broken.length - 4) / 32) - 1));
      broken[word + 31] =
        rng.pick([0, 1, 0x1f, 0x20, 0x21, 0x40, 0xff, (broken[word + 31] as number) + 1]) & 255;
      return broken;
    }
    case 4:
      broken[4 + rng.int(0, 31)] = rng.int(1, 255);
      return broken;
    default:
      // The last byte: padding of a text or raw input, a 16-bit number, a price.
      broken[broken.length - 1] = rng.int(0, 255);
      broken.set(selector);
      return broken;
  }
}

const DESCRIPTOR = 32;
const RECORD = 128;
/** Bytes of a record that carry meaning, each as likely as the rest of the record together. */
const FIELDS = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 31, 32, 35, 39, 43, 47, 51, 55, 56, 64, 67, 71, 74, 77,
  78, 79,
];

/** Program bytes with one or two bytes changed, in places that matter, or with another length. */
export function breakProgram(rng: Rng, program: Uint8Array): Uint8Array {
  const broken = program.slice();
  if (rng.chance(0.05)) return broken.subarray(0, rng.int(0, broken.length - 1));
  if (rng.chance(0.05)) return Uint8Array.from([...broken, ...new Uint8Array(rng.pick([1, 32, 128]))]);
  const weights = (program[4] as number) * 256 + (program[5] as number);
  const records = 32 + DESCRIPTOR * weights;
  const steps = (program.length - records) / RECORD;
  for (let i = rng.int(1, 2); i > 0; i--) {
    const at = rng.chance(0.15)
      ? rng.int(0, 31)
      : rng.chance(0.2) && weights > 0
        ? 32 + DESCRIPTOR * rng.int(0, weights - 1) + rng.int(0, 31)
        : records + RECORD * rng.int(0, steps - 1) + rng.pick(FIELDS);
    const byte = broken[at] as number;
    broken[at] = rng.pick([byte + 1, byte - 1, 0, 1, 2, 4, 0x80, 0xff, rng.int(0, 255)]) & 255;
  }
  return broken;
}
