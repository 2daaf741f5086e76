/** Channel forms in WebAssembly, whose 64-bit numbers wrap and shift as the definition says. */
import {
  advance,
  at,
  compileWasm,
  get,
  I32,
  I64,
  number32,
  number64,
  OP,
  set,
  type WasmFunction,
} from "../wasm.ts";
import { CHANNEL_FORMS, CHUNK, type ChannelForm, type ChannelForms, ENTRY, FIELDS } from "./channel-forms.ts";
import { copyElements } from "./copy.ts";
import { MOST_NUMBER } from "./rounding.ts";

/** Memory, one page of 64 KB: the table, the numbers, which words replace, and bytes. */
const NUMBERS = CHUNK * ENTRY;
const BYTES = NUMBERS + 4 * CHUNK;
const LOW_BYTES = BYTES + CHUNK;

/** Parameters: where the first number's channel stands, where the table ends, how many numbers there are. Locals: the
 *  number in hand, a number of 32 bits, and of 64, and what it is compared with. */
const [CHANNEL, TABLE_END, COUNT, AT, WORD, WIDE, LIMIT] = [0, 1, 2, 3, 4, 5, 6];

const field = (load: number, name: keyof typeof FIELDS): number[] => [
  ...[...get(CHANNEL), load],
  ...at(FIELDS[name]),
];
const byte = (name: keyof typeof FIELDS): number[] => field(OP.load8As64, name);
const numberAt = [...get(AT), ...number32(2), OP.shiftLeft32];

const accumulator = [...numberAt, OP.load32, ...at(NUMBERS), ...field(OP.load32, "bias"), OP.add32];
const shifted = [
  ...[...accumulator, OP.extend32, ...field(OP.load32As64, "multiplier"), OP.multiply64],
  ...[...field(OP.load64, "addend"), OP.add64],
  // The shift counts modulo 64.
  ...[...byte("shift"), OP.shiftRightSigned64],
];
const quantum = [
  ...[...accumulator, OP.toFloat32, ...field(OP.loadFloat32, "scale"), OP.multiplyFloat32],
  ...[OP.nearestFloat32, ...OP.toSaturated32, OP.extend32],
];

/** WIDE becomes the limit unless the comparison holds. */
const clamped = (limit: "lower" | "upper", comparison: number): number[] => [
  ...[...byte(limit), ...byte("zeroPoint"), OP.subtract64, ...set(LIMIT)],
  ...[...get(WIDE), ...get(LIMIT), ...get(WIDE), ...get(LIMIT), comparison, OP.select, ...set(WIDE)],
];
/** The zero point is added behind the clamps, which are less by it: before them the sum could leave 64 bits. */
const storedByte = (value: number[]): number[] => [
  ...[...value, ...set(WIDE), ...clamped("lower", OP.greaterSigned64), ...clamped("upper", OP.lessSigned64)],
  ...[...get(AT), ...get(WIDE), ...byte("zeroPoint"), OP.add64, OP.wrap64, OP.store8, ...at(BYTES)],
];
/** LIMIT is 2^u; WIDE becomes it less 1 if it is not below, then -2^u if it is not above. */
const limitedWord = [
  ...[...shifted, ...set(WIDE)],
  ...[...number64(1), ...byte("upper"), ...number64(31), OP.and64, OP.shiftLeft64, ...set(LIMIT)],
  ...[...get(WIDE), ...get(LIMIT), ...number64(1), OP.subtract64, ...get(WIDE), ...get(LIMIT)],
  ...[OP.lessSigned64, OP.select, ...set(WIDE)],
  ...[...get(WIDE), ...number64(0), ...get(LIMIT), OP.subtract64],
  ...[...get(WIDE), ...number64(0), ...get(LIMIT), OP.subtract64, OP.greaterSigned64, OP.select],
];
/** WORD becomes the limit unless the comparison holds. */
const limited = (limit: number, comparison: number): number[] => [
  ...[...get(WORD), ...number32(limit), ...get(WORD), ...number32(limit), comparison, OP.select],
  ...set(WORD),
];

const STORES: Readonly<Record<ChannelForm, number[]>> = {
  word: [...numberAt, ...shifted, OP.wrap64, OP.store32, ...at(NUMBERS)],
  limited: [...numberAt, ...limitedWord, OP.wrap64, OP.store32, ...at(NUMBERS)],
  integer: storedByte(shifted),
  binary32: storedByte(quantum),
  planes: [
    ...[...shifted, OP.wrap64, ...set(WORD)],
    ...[...limited(0, OP.greaterSigned32), ...limited(MOST_NUMBER, OP.lessSigned32)],
    ...[...get(AT), ...get(WORD), ...number32(8), OP.shiftRight32, OP.store8, ...at(BYTES)],
    ...[...get(AT), ...get(WORD), OP.store8, ...at(LOW_BYTES)],
  ],
};

/** The table's first channel behind its last one. */
const nextChannel = [
  ...[...number32(0), ...get(CHANNEL), ...number32(ENTRY), OP.add32, OP.tee, CHANNEL],
  ...[...get(CHANNEL), ...get(TABLE_END), OP.equal32, OP.select, ...set(CHANNEL)],
];

const functionOf = (name: ChannelForm): WasmFunction<ChannelForm> => ({
  name,
  parameters: 3,
  locals: [
    [2, I32],
    [2, I64],
  ],
  body: [...OP.loop, ...STORES[name], ...nextChannel, ...advance(AT, number32(1), get(COUNT))],
});

const instantiate = compileWasm(...CHANNEL_FORMS.map(functionOf));

/** Undefined where the engine has no WebAssembly. @throws RangeError where there is no memory */
export function wasmForms(): ChannelForms | undefined {
  if (instantiate === undefined) return undefined;
  const { memory, calls } = instantiate();
  const { buffer } = memory;
  const tables = new Uint8Array(buffer, 0, NUMBERS);
  const words = new Int32Array(buffer, NUMBERS, CHUNK);
  let loaded: Uint8Array | undefined;
  return {
    words,
    bytes: new Uint8Array(buffer, BYTES, CHUNK),
    lowBytes: new Uint8Array(buffer, LOW_BYTES, CHUNK),
    compute(form, table, { data, from, count, channel }) {
      if (table !== loaded) tables.set(table);
      loaded = table;
      copyElements(words, 0, data, from, count);
      calls[form](channel * ENTRY, table.length, count);
    },
  };
}
