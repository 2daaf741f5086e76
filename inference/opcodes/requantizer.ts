import { floatOfBits } from "../program/tensor.ts";
import { type ChannelParameters, readParameters } from "../program/weights.ts";
import { quantum } from "./rounding.ts";

/** Below this size products and sums of the integer form are exact in a double, and so is their sum. */
const EXACT = 2 ** 52;

/** `(acc·M + B) >> S` for every content: modulo 2^64 as signed, S modulo 64, arithmetic shift. */
export function shiftedSum(
  acc: number,
  { multiplier, addend, shift }: Pick<ChannelParameters, "multiplier" | "addend" | "shift">,
): bigint {
  return BigInt.asIntN(64, BigInt(acc) * BigInt(multiplier) + addend) >> BigInt(shift & 63);
}

/** The parameter words of a weight tensor in arrays, one entry a channel, and what they compute.
 *  Source: docs/EXACT.md, section 3, DOT, REQUANT and RESCALE. */
export class Requantizer {
  readonly bias: Int32Array;
  readonly weightOffset: Uint16Array;
  readonly #multiplier: Float64Array;
  /** NaN where the addend is not exact in a double: every comparison with NaN fails, BigInt takes over. */
  readonly #addend: Float64Array;
  readonly #addend64: BigInt64Array;
  readonly #shift: Uint8Array;
  readonly #unit: Float64Array;
  readonly #scale: Float32Array;
  readonly #zeroPoint: Uint8Array;
  readonly #lower: Uint8Array;
  readonly #upper: Uint8Array;

  /** @param words a weight tensor's words @param stride bytes from one channel's parameter word to the next
   *  @param first byte of the first one */
  constructor(words: Uint8Array, channels: number, first: number, stride: number) {
    this.bias = new Int32Array(channels);
    this.weightOffset = new Uint16Array(channels);
    this.#multiplier = new Float64Array(channels);
    this.#addend = new Float64Array(channels);
    this.#addend64 = new BigInt64Array(channels);
    this.#shift = new Uint8Array(channels);
    this.#unit = new Float64Array(channels);
    this.#scale = new Float32Array(channels);
    this.#zeroPoint = new Uint8Array(channels);
    this.#lower = new Uint8Array(channels);
    this.#upper = new Uint8Array(channels);
    for (let n = 0; n < channels; n++) {
      const parameters = readParameters(words, first + n * stride);
      const addend = Number(parameters.addend);
      this.bias[n] = parameters.bias;
      this.weightOffset[n] = parameters.weightOffset;
      this.#multiplier[n] = parameters.multiplier;
      this.#addend[n] = Math.abs(addend) <= EXACT ? addend : Number.NaN;
      this.#addend64[n] = parameters.addend;
      this.#shift[n] = parameters.shift & 63;
      this.#unit[n] = 2 ** -(parameters.shift & 63);
      this.#scale[n] = floatOfBits(parameters.scaleBits);
      this.#zeroPoint[n] = parameters.zeroPoint;
      this.#lower[n] = parameters.lower;
      this.#upper[n] = parameters.upper;
    }
  }

  /** Stored byte by the integer form. */
  integer(acc: number, n: number): number {
    const q = this.exact(acc, n);
    return this.#clamp(Number.isNaN(q) ? Number(this.shifted(acc, n)) : q, n);
  }

  /** What RESCALE makes of an element: the low 32 bits of the shifted sum. */
  rescaled(value: number, n: number): number {
    const acc = (value + (this.bias[n] as number)) | 0;
    const exact = this.exact(acc, n);
    return Number.isNaN(exact) ? Number(BigInt.asIntN(32, this.shifted(acc, n))) : exact | 0;
  }

  /** Stored byte by the binary32 form. The product of two binary32 numbers is exact in a double. */
  binary32(acc: number, n: number): number {
    return this.#clamp(quantum(Math.fround(Math.fround(acc) * (this.#scale[n] as number))), n);
  }

  /** The shifted sum where a double holds what it is made of, else NaN. */
  exact(acc: number, n: number): number {
    const product = acc * (this.#multiplier[n] as number);
    const sum = product + (this.#addend[n] as number);
    const isExact = product < EXACT && product > -EXACT && sum < EXACT && sum > -EXACT;
    return isExact ? Math.floor(sum * (this.#unit[n] as number)) : Number.NaN;
  }

  /** The shifted sum, whatever its size. */
  shifted(acc: number, n: number): bigint {
    return shiftedSum(acc, {
      multiplier: this.#multiplier[n] as number,
      addend: this.#addend64[n] as bigint,
      shift: this.#shift[n] as number,
    });
  }

  #clamp(q: number, n: number): number {
    const value = q + (this.#zeroPoint[n] as number);
    const lower = this.#lower[n] as number;
    const upper = this.#upper[n] as number;
    const raised = Math.max(value, lower);
    return Math.min(raised, upper);
  }
}
