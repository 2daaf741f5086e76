import type { TensorData } from "../program/form.ts";
import { floatOfBits } from "../program/tensor.ts";
import { type ChannelParameters, readParameters } from "../program/weights.ts";
import { quantum, S32_MAX, S32_MIN } from "./rounding.ts";

/** Below this size products and sums of the integer form are exact in a double, and so is their sum. */
const EXACT = 2 ** 52;

/** `(acc·M + B) >> S` for every content: modulo 2^64 as signed, S modulo 64, arithmetic shift. */
export function shiftedSum(
  acc: number,
  { multiplier, addend, shift }: Pick<ChannelParameters, "multiplier" | "addend" | "shift">,
): bigint {
  return BigInt.asIntN(64, BigInt(acc) * BigInt(multiplier) + addend) >> BigInt(shift & 63);
}

/** Numbers that follow one another in `data`, from `from` on, and the channel of the first. Behind the last channel comes
 *  the first one again. */
export interface Span {
  readonly data: Int32Array;
  readonly from: number;
  readonly count: number;
  readonly channel: number;
}

/** Numbers of a span that are in the processor's nearest cache until they are clamped. */
const CHUNK = 2048;
const quanta = new Int32Array(CHUNK);

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

  /** What RESCALE makes of numbers: the low 32 bits of their shifted sums. */
  rescale(out: Int32Array, to: number, numbers: Span): void {
    this.#shifted(out, to, numbers, false);
  }

  /** Stored bytes by the integer form. A sum that is no s32 is clamped like the nearest one. */
  integer(out: TensorData, to: number, numbers: Span): void {
    this.#inChunks(out, to, numbers, (part) => this.#shifted(quanta, 0, part, true));
  }

  /** Stored bytes by the binary32 form. The product of two binary32 numbers is exact in a double. */
  binary32(out: TensorData, to: number, numbers: Span): void {
    this.#inChunks(out, to, numbers, ({ data, from, count, channel }) => {
      for (let i = 0, n = channel; i < count; i++) {
        const acc = ((data[from + i] as number) + (this.bias[n] as number)) | 0;
        quanta[i] = quantum(Math.fround(Math.fround(acc) * (this.#scale[n] as number)));
        if (++n === this.bias.length) n = 0;
      }
    });
  }

  /** @param quantize fills `quanta` */
  #inChunks(
    out: TensorData,
    to: number,
    { data, from, count, channel }: Span,
    quantize: (part: Span) => void,
  ): void {
    for (let at = 0; at < count; at += CHUNK) {
      const part = {
        data,
        from: from + at,
        count: Math.min(CHUNK, count - at),
        channel: (channel + at) % this.bias.length,
      };
      quantize(part);
      this.#clamp(out, to + at, part);
    }
  }

  /** `(acc·M + B) >> S` of each number, as s32: its low 32 bits, or the nearest s32. */
  #shifted(out: Int32Array, to: number, { data, from, count, channel }: Span, isSaturated: boolean): void {
    const [biases, multipliers, addends, units] = [this.bias, this.#multiplier, this.#addend, this.#unit];
    const channels = biases.length;
    for (let i = 0, n = channel; i < count; i++) {
      const acc = ((data[from + i] as number) + (biases[n] as number)) | 0;
      const product = acc * (multipliers[n] as number);
      const sum = product + (addends[n] as number);
      if (Math.abs(product) < EXACT && Math.abs(sum) < EXACT) {
        const shifted = Math.floor(sum * (units[n] as number));
        out[to + i] = isSaturated ? Math.max(S32_MIN, Math.min(S32_MAX, shifted)) : shifted | 0;
      } else out[to + i] = this.#beyondDoubles(acc, n, isSaturated);
      if (++n === channels) n = 0;
    }
  }

  #beyondDoubles(acc: number, n: number, isSaturated: boolean): number {
    const shifted = shiftedSum(acc, {
      multiplier: this.#multiplier[n] as number,
      addend: this.#addend64[n] as bigint,
      shift: this.#shift[n] as number,
    });
    if (!isSaturated) return Number(BigInt.asIntN(32, shifted));
    return Math.max(S32_MIN, Math.min(S32_MAX, Number(shifted)));
  }

  /** Stored bytes of `quanta`. */
  #clamp(out: TensorData, to: number, { count, channel }: Span): void {
    for (let i = 0, n = channel; i < count; i++) {
      const value = (quanta[i] as number) + (this.#zeroPoint[n] as number);
      const raised = Math.max(value, this.#lower[n] as number);
      const upper = this.#upper[n] as number;
      out[to + i] = Math.min(raised, upper);
      if (++n === this.bias.length) n = 0;
    }
  }
}
