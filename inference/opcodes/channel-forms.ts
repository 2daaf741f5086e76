/** What becomes of accumulators by their channels' parameters, a chunk at a time. Source: docs/EXACT.md, section 3, DOT,
 *  REQUANT and RESCALE. */
import { type ChannelParameters, parametersAt } from "../program/weights.ts";
import { limited, numberOf, quantum, shiftedSum } from "./rounding.ts";

/** Most numbers of a chunk, and most channels of a table. */
export const CHUNK = 2048;

/** word: the low 32 bits of the shifted sum; limited: the shifted sum, clamped to as many bits as the upper clamp says;
 *  integer, binary32: the stored byte by that form; planes: the two bytes of the number of 16 bits that is nearest to what
 *  word gives. */
export const CHANNEL_FORMS = ["word", "limited", "integer", "binary32", "planes"] as const;
export type ChannelForm = (typeof CHANNEL_FORMS)[number];

/** Numbers that follow one another in `data`, from `from` on, and the channel of the first. Behind the last channel comes
 *  the first one again. */
export interface Span {
  readonly data: Int32Array;
  readonly from: number;
  readonly count: number;
  readonly channel: number;
}

/** Bytes of a channel in a table. */
export const ENTRY = 24;
/** Where they stand in it, little-endian. */
export const FIELDS = {
  addend: 0,
  bias: 8,
  multiplier: 12,
  scale: 16,
  shift: 20,
  zeroPoint: 21,
  lower: 22,
  upper: 23,
} as const;

/** @param view of a weight tensor's words @param first byte of the first channel's parameter word
 *  @param stride bytes from one to the next */
export function channelTable(view: DataView, first: number, stride: number, channels: number): Uint8Array {
  const table = new Uint8Array(channels * ENTRY);
  const to = new DataView(table.buffer);
  for (let n = 0; n < channels; n++) {
    const parameters = parametersAt(view, first + n * stride);
    const at = n * ENTRY;
    to.setBigInt64(at + FIELDS.addend, parameters.addend, true);
    to.setInt32(at + FIELDS.bias, parameters.bias, true);
    to.setUint32(at + FIELDS.multiplier, parameters.multiplier, true);
    to.setUint32(at + FIELDS.scale, parameters.scaleBits, true);
    table[at + FIELDS.shift] = parameters.shift;
    table[at + FIELDS.zeroPoint] = parameters.zeroPoint;
    table[at + FIELDS.lower] = parameters.lower;
    table[at + FIELDS.upper] = parameters.upper;
  }
  return table;
}

/** Computes the forms of a chunk; what is computed is valid until the next one is. */
export interface ChannelForms {
  /** @param table never changed once it is given @param numbers 1 to CHUNK of them, their channel one of the table's */
  compute(form: ChannelForm, table: Uint8Array, numbers: Span): void;
  /** Of word and limited. */
  readonly words: Int32Array;
  /** Of the other forms; of planes the high ones. */
  readonly bytes: Uint8Array;
  /** Of planes. */
  readonly lowBytes: Uint8Array;
}

/** In plain JavaScript: the definition. */
export function plainForms(): ChannelForms {
  const words = new Int32Array(CHUNK);
  const [bytes, lowBytes] = [new Uint8Array(CHUNK), new Uint8Array(CHUNK)];
  return {
    ...{ words, bytes, lowBytes },
    compute(form, table, { data, from, count, channel }) {
      const view = new DataView(table.buffer, table.byteOffset, table.length);
      const channels = table.length / ENTRY;
      for (let i = 0; i < count; i++) {
        const entry = ((channel + i) % channels) * ENTRY;
        const acc = ((data[from + i] as number) + view.getInt32(entry + FIELDS.bias, true)) | 0;
        if (form === "binary32") {
          const scale = view.getFloat32(entry + FIELDS.scale, true);
          bytes[i] = stored(quantum(Math.fround(Math.fround(acc) * scale)), table, entry);
          continue;
        }
        const shifted = shiftedSum(acc, integerForm(view, entry));
        if (form === "integer") bytes[i] = stored(Number(shifted), table, entry);
        else if (form === "limited") words[i] = limited(shifted, table[entry + FIELDS.upper] as number);
        else {
          const word = Number(BigInt.asIntN(32, shifted));
          const number = numberOf(word);
          [words[i], bytes[i], lowBytes[i]] = [word, number >> 8, number];
        }
      }
    },
  };
}

type IntegerForm = Pick<ChannelParameters, "multiplier" | "addend" | "shift">;

const integerForm = (view: DataView, entry: number): IntegerForm => ({
  multiplier: view.getUint32(entry + FIELDS.multiplier, true),
  addend: view.getBigInt64(entry + FIELDS.addend, true),
  shift: view.getUint8(entry + FIELDS.shift),
});

/** @param value an integer; from 2^53 on rounded, which no clamp shows */
function stored(value: number, table: Uint8Array, entry: number): number {
  const moved = value + (table[entry + FIELDS.zeroPoint] as number);
  const raised = Math.max(moved, table[entry + FIELDS.lower] as number);
  return Math.min(raised, table[entry + FIELDS.upper] as number);
}
