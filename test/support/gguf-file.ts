/** Bytes of GGUF files (version 3), and random tensors with the numbers that their bytes stand for, computed here apart
 *  from the reader. Source: the GGUF specification of github.com/ggml-org/ggml, version 3, and its block formats. */
import { concatBytes, viewOf } from "../../base/bytes.ts";
import type { Rng } from "./rng.ts";

const TYPES = {
  ...{ u8: 0, i8: 1, u16: 2, i16: 3, u32: 4, i32: 5, f32: 6, bool: 7 },
  ...{ string: 8, array: 9, u64: 10, i64: 11, f64: 12 },
} as const;
export type EntryType = Exclude<keyof typeof TYPES, "array">;
export type EntryValue = number | bigint | boolean | string;
export type Entry =
  | readonly [type: EntryType, value: EntryValue]
  | readonly [type: "array", inner: EntryType, values: readonly EntryValue[]];

/** Code, elements and bytes of a block. */
export const FORMATS = {
  F32: [0, 1, 4],
  F16: [1, 1, 2],
  Q4_0: [2, 32, 18],
  Q4_1: [3, 32, 20],
  Q8_0: [8, 32, 34],
} as const;
export type FormatName = keyof typeof FORMATS;

export interface FileTensor {
  /** outermost first */
  readonly dims: readonly number[];
  readonly format: FormatName;
  readonly bytes: Uint8Array;
}

export interface GgufParts {
  readonly metadata?: Readonly<Record<string, Entry>>;
  /** a list, so that a name can be there twice */
  readonly tensors?: readonly (readonly [name: string, tensor: FileTensor])[];
  /** as the metadata say: 32 unless they say another */
  readonly alignment?: number;
}

const number = (size: number, write: (view: DataView) => void): Uint8Array => {
  const bytes = new Uint8Array(size);
  write(viewOf(bytes));
  return bytes;
};
export const u32 = (x: number) => number(4, (view) => view.setUint32(0, x, true));
export const u64 = (x: number | bigint) => number(8, (view) => view.setBigUint64(0, BigInt(x), true));
export const text = (x: string): Uint8Array => {
  const bytes = new TextEncoder().encode(x);
  return concatBytes(u64(bytes.length), bytes);
};

function valueBytes(type: EntryType, value: EntryValue): Uint8Array {
  const x = Number(value);
  switch (type) {
    case "string":
      return text(String(value));
    case "u8":
    case "i8":
    case "bool":
      return Uint8Array.of(x);
    case "u16":
    case "i16":
      return number(2, (view) => view.setUint16(0, x, true));
    case "u32":
    case "i32":
      return u32(x);
    case "f32":
      return number(4, (view) => view.setFloat32(0, x, true));
    case "f64":
      return number(8, (view) => view.setFloat64(0, x, true));
    default:
      return u64(BigInt.asUintN(64, BigInt(value)));
  }
}

const entryBytes = (entry: Entry): Uint8Array =>
  entry[0] === "array"
    ? concatBytes(
        ...[u32(TYPES.array), u32(TYPES[entry[1]]), u64(entry[2].length)],
        ...entry[2].map((value) => valueBytes(entry[1], value)),
      )
    : concatBytes(u32(TYPES[entry[0]]), valueBytes(entry[0], entry[1]));

/** Everything in front of the tensors' bytes, but not the zeros that align these. */
export function ggufHead({ metadata = {}, tensors = [], alignment = 32 }: GgufParts): Uint8Array {
  const entries = Object.entries(metadata).map(([key, entry]) => concatBytes(text(key), entryBytes(entry)));
  let offset = 0;
  const infos = tensors.map(([name, { dims, format, bytes }]) => {
    // Dims are written from the innermost one.
    const sizes = [...dims].reverse().map(u64);
    const info = concatBytes(text(name), u32(dims.length), ...sizes, u32(FORMATS[format][0]), u64(offset));
    offset += Math.ceil(bytes.length / alignment) * alignment;
    return info;
  });
  const counts = [u64(tensors.length), u64(entries.length)];
  return concatBytes(new TextEncoder().encode("GGUF"), u32(3), ...counts, ...entries, ...infos);
}

export function ggufFile(parts: GgufParts): Uint8Array {
  const { tensors = [], alignment = 32 } = parts;
  const aligned = (bytes: Uint8Array): Uint8Array => {
    const padded = new Uint8Array(Math.ceil(bytes.length / alignment) * alignment);
    padded.set(bytes);
    return padded;
  };
  const last = tensors.length - 1;
  const data = tensors.map(([, { bytes }], i) => (i === last ? bytes : aligned(bytes)));
  return concatBytes(aligned(ggufHead(parts)), ...data);
}

/** The 16-bit floating point number nearest to x, which must be inside its range; what is below the least normal one
 *  becomes 0. */
export function halfBits(x: number): number {
  const size = Math.abs(x);
  if (size < 2 ** -14) return 0;
  const exponent = Math.floor(Math.log2(size));
  const fraction = Math.round((size / 2 ** exponent - 1) * 1024);
  return (x < 0 ? 0x8000 : 0) + (exponent + 15) * 1024 + fraction;
}

/** The number of a normal one. */
export const halfValue = (bits: number): number =>
  bits === 0 ? 0 : (bits >= 0x8000 ? -1 : 1) * (1 + (bits % 1024) / 1024) * 2 ** (((bits >> 10) & 31) - 15);

export interface RandomTensor extends FileTensor {
  /** what the bytes stand for, row by row */
  readonly values: Float64Array;
}

/** About uniform numbers, as large as `size` times one to two. */
export function randomTensor(
  rng: Rng,
  format: FormatName,
  dims: readonly number[],
  size: number,
): RandomTensor {
  const [, length, blockBytes] = FORMATS[format];
  const count = dims.reduce((product, dim) => product * dim, 1);
  const values = new Float64Array(count);
  const bytes = new Uint8Array((count / length) * blockBytes);
  const view = viewOf(bytes);
  /** @returns the number that is stored */
  const half = (at: number, x: number): number => {
    const bits = halfBits(x);
    view.setUint16(at, bits, true);
    return halfValue(bits);
  };
  const uniform = () => rng.int(-(2 ** 20), 2 ** 20) / 2 ** 20;
  for (let block = 0; block < count / length; block++) {
    const [at, to] = [block * blockBytes, block * length];
    const most = size * (1.5 + uniform() / 2);
    if (format === "F32") {
      values[to] = Math.fround(size * uniform());
      view.setFloat32(at, values[to] as number, true);
    } else if (format === "F16") values[to] = half(at, 1.5 * size * uniform());
    else if (format === "Q8_0") {
      const step = half(at, most / 127);
      for (let i = 0; i < length; i++) {
        const value = rng.int(-127, 127);
        view.setInt8(at + 2 + i, value);
        values[to + i] = value * step;
      }
    } else {
      const step = half(at, most / 8);
      const least = format === "Q4_1" ? half(at + 2, -most * 0.9) : -8 * step;
      const from = at + (format === "Q4_1" ? 4 : 2);
      for (let i = 0; i < length; i++) {
        const value = rng.int(0, 15);
        // The low halves of the bytes are the first numbers of a block, the high ones the others.
        const byte = from + (i % 16);
        bytes[byte] = (bytes[byte] as number) + value * (i < 16 ? 1 : 16);
        values[to + i] = value * step + least;
      }
    }
  }
  return { dims, format, bytes, values };
}
