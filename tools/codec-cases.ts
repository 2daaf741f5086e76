/** Cases of the codec vectors: inputs at every limit, and every way to break an encoding. */
import type { CodecInput } from "../inference/codecs/input.ts";
import type { Step, TensorType } from "../inference/program/form.ts";

export interface InputCase {
  readonly name: string;
  readonly input: CodecInput;
  /** The program's input size. */
  readonly size: number;
  readonly step: Pick<Step, "type" | "dims" | "k">;
  /** Whether the refused cases are made from this one. */
  readonly mutate: boolean;
}

/** Uniform bytes, the same for the same seed; xorshift32. */
export function makeRandomBytes(seed: number): (count: number) => Uint8Array {
  let state = seed;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 9) & 255;
    });
}

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

const TEXTS: readonly string[] = [
  "",
  "a",
  "Ab",
  "abc",
  "ABCD",
  "abcde",
  " \t\r\n\x00\x1f\x7f ",
  "$AAPL: up 3.5% after-hours!",
  "@AZ[`az{/09:",
  "a\x7fb\x80c\xff",
  "\x80\x81\xc3\x84\xfe\xff \xc0\xaf",
  "x".repeat(30),
  "Y".repeat(31),
  `${"Z".repeat(31)}!`,
  "0".repeat(32),
  "\xee".repeat(33),
  `${"q".repeat(31)}A ${"q".repeat(31)}B`,
  "http://x.y/z?q a",
  "HtTpS://X\x7fstill the URL\x20end",
  "see http://a\x00b https://c\x1fd http://e\x80\xfff",
  "http://",
  "https://",
  "http:/",
  "https:/ /",
  "http",
  "https:",
  "http:// https:// a",
  "xhttp://a httpss://b 1https://c http\x80://d",
  "http://a\nhttp://b\thttp://c\x7fhttp://d e",
  "!http://a",
  "a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z 0 1 2 3 4 5 6 7",
  Array.from({ length: 256 }, (_, b) => String.fromCharCode(b)).join(""),
];

const TEXT_SHAPES = [
  { dims: [32, 11], k: 4096 },
  { dims: [64, 16], k: 2 ** 24 },
  { dims: [3, 2], k: 3 },
  { dims: [1, 1], k: 2 },
  { dims: [5, 9], k: 1000 },
] as const;

function textCases(random: (count: number) => Uint8Array): InputCase[] {
  const texts = TEXTS.map(latin1);
  const tricky = latin1("hHtTpPsS:/ aZ\x7f\x00\x20\xff");
  for (let i = 0; i < 40; i++) {
    texts.push(random(8 + i).map((byte) => tricky[byte % tricky.length] as number));
    texts.push(random(1 + 5 * i));
  }
  const cases = texts.map((text, i): InputCase => {
    const shape = TEXT_SHAPES[i % TEXT_SHAPES.length] as (typeof TEXT_SHAPES)[number];
    const size = i % 3 === 0 ? Math.max(1, text.length) : 4096;
    return textCase(`text ${i}`, text, size, shape, [7, 9, 15].includes(i));
  });
  const long = [random(4096), latin1("a".repeat(4096)), latin1(`http://${"y".repeat(4080)} end`)];
  return [...cases, ...long.map((text, i) => textCase(`long text ${i}`, text, 4096, TEXT_SHAPES[1], false))];
}

function textCase(
  name: string,
  text: Uint8Array,
  size: number,
  shape: { readonly dims: readonly number[]; readonly k: number },
  mutate: boolean,
): InputCase {
  return { name, input: { codec: "text", text }, size, step: { type: "s32", ...shape }, mutate };
}

function priceCases(random: (count: number) => Uint8Array): InputCase[] {
  const any = (bytes: number): bigint => random(bytes).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const edges = [0n, 1n, 2n ** 128n - 1n, 2n ** 128n, 2n ** 256n - 1n, 10_000n, 32_767n, 32_768n];
  const edge = (): bigint => edges[(random(1)[0] as number) % edges.length] as bigint;
  const makers: readonly (readonly [string, () => bigint])[] = [
    ["near", () => 100_000n + (any(2) >> 3n)],
    ["any", () => any(1 + ((random(1)[0] as number) & 31))],
    ["edge", edge],
    ["zero", () => 0n],
  ];
  return makers.flatMap(([name, make]) =>
    (name === "edge" ? [2, 3, 9, 10, 66, 256] : [2, 3, 9, 66]).map((n): InputCase => {
      const list = (): bigint[] => Array.from({ length: n }, make);
      return {
        name: `prices ${name} ${n}`,
        input: { codec: "prices", closes: list(), highs: list(), lows: list() },
        size: n,
        step: { type: "s32", dims: [3, n - 1], k: 0 },
        mutate: name === "near" && n === 3,
      };
    }),
  );
}

const LANE_SHAPES: readonly (readonly [size: number, dims: readonly number[], k: number])[] = [
  [1, [1], 0],
  [15, [15], 0],
  [16, [16], 0],
  [17, [17], 0],
  [17, [1, 1], 16],
  [40, [3, 5], 20],
  [40, [2, 2, 9], 3],
  [100, [100, 1], 0],
  [672, [7, 96], 0],
  [4096, [4096], 0],
  [4096, [8, 500], 96],
];

function laneCases(random: (count: number) => Uint8Array): InputCase[] {
  return LANE_SHAPES.map(([size, dims, k]) => {
    const bytes = random(2 * size);
    return {
      name: `int16s ${size} [${dims}] at ${k}`,
      input: { codec: "int16s", int16s: Array.from(new Int16Array(bytes.buffer)) },
      size,
      step: { type: "s32", dims, k },
      mutate: size === 17 && k === 0,
    };
  });
}

const RAW_SHAPES: readonly (readonly [type: TensorType, size: number, dims: readonly number[], k: number])[] =
  [
    ["u8", 1, [1], 0],
    ["u8", 33, [33], 0],
    ["u8", 100, [3, 31], 7],
    ["u8", 1024, [16, 64], 0],
    ["s8", 32, [32], 0],
    ["s8", 77, [7, 11], 0],
    ["s8", 70, [2, 33], 3],
    ["bool", 64, [64], 0],
    ["bool", 31, [31, 1], 0],
    ["s32", 4, [1], 0],
    ["s32", 400, [9, 11], 4],
    ["s32", 401, [100], 1],
    ["f32", 200, [50], 0],
    ["f32", 203, [2, 25], 3],
    ["f32", 4096, [4, 2, 128], 0],
  ];

/** Bits of f32 at the edges of what a raw input keeps. */
const FLOATS = [
  ...[0, 1, 0x7fffff, 0x800000, 0x800001, 0x3f800000, 0x497fffff, 0x49800000, 0x49800001, 0x4a000000],
  ...[0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff],
].flatMap((bits) => [bits, (bits | 0x80000000) >>> 0]);

function rawCases(random: (count: number) => Uint8Array): InputCase[] {
  return RAW_SHAPES.map(([type, size, dims, k], i) => {
    const bytes = random(size);
    if (type === "bool") for (let at = 0; at < size; at += 2) bytes[at] = at % 4 === 0 ? 0 : 128;
    if (type === "f32") {
      const view = new DataView(bytes.buffer);
      // Again and again, one further each time: every edge comes to every place of a word.
      for (let n = 0; k + 4 * n + 4 <= size; n++) {
        const bits = FLOATS[n % (FLOATS.length + 1)];
        if (bits !== undefined) view.setUint32(k + 4 * n, bits, true);
      }
    }
    return {
      name: `raw ${type} ${size} [${dims}] at ${k}`,
      input: { codec: "raw", bytes },
      size,
      step: { type, dims, k },
      mutate: i < 2 || i === 4,
    };
  });
}

/** All inputs, the same at every call. */
export function inputCases(): readonly InputCase[] {
  const random = makeRandomBytes(11);
  return [textCases, priceCases, laneCases, rawCases].flatMap((make) => make(random));
}

/** Calldata that must be refused, made from a canonical one. */
export function* refusedCases(
  calldata: Uint8Array,
  { input, size }: InputCase,
): Generator<readonly [name: string, calldata: Uint8Array]> {
  const edited = (at: number, byte: number): Uint8Array => {
    const copy = calldata.slice();
    copy[at] = byte;
    return copy;
  };
  for (const length of [0, 3, 4, 35, 36, 67, 68, calldata.length - 32, calldata.length - 1]) {
    if (length < calldata.length) yield [`cut to ${length}`, calldata.subarray(0, length)];
  }
  for (const more of [1, 31, 32, 64]) {
    yield [`${more} extra bytes`, Uint8Array.from([...calldata, ...new Uint8Array(more)])];
  }
  for (let at = 0; at < 4; at++) yield [`selector byte ${at}`, edited(at, (calldata[at] as number) ^ 1)];
  const args = input.codec === "prices" ? 3 : 1;
  let tail = 4 + 32 * args;
  for (let i = 0; i < args; i++) {
    const head = 4 + 32 * i;
    for (const delta of [-32, -1, 1, 32]) {
      yield [`offset ${i} by ${delta}`, edited(head + 31, (calldata[head + 31] as number) + delta)];
    }
    for (const [place, at] of [
      ["offset", head],
      ["length", tail],
    ] as const) {
      for (const byte of [0, 20, 27, 28]) yield [`${place} ${i}: byte ${byte}`, edited(at + byte, 1)];
    }
    const length = calldata[tail + 31] as number;
    // One less leaves padding that is not zero, or words too many; one more goes past the size or the data.
    for (const delta of [-33, -1, 1, 32, 33]) {
      const copy = edited(tail + 31, length + delta);
      if (input.codec !== "text" || lengthIsWrong(copy, size)) yield [`length ${i} by ${delta}`, copy];
    }
    tail += 32 + 32 * size;
  }
  yield ["gap before the tail", withGap(calldata, args)];
  if (input.codec === "text" || input.codec === "raw") {
    const content = input.codec === "text" ? input.text.length : input.bytes.length;
    for (let at = 68 + content; at < calldata.length; at++)
      yield [`padding at ${at}`, edited(at, 0x80 >> (at % 8))];
  }
  if (input.codec === "int16s") {
    for (let at = 68 + 2 * size; at < calldata.length; at++) yield [`unused number at ${at}`, edited(at, 1)];
  }
}

/** Whether a text of which only the length was changed is refused: by its padding, its words or its size. */
function lengthIsWrong(calldata: Uint8Array, size: number): boolean {
  const length = new DataView(calldata.buffer).getUint32(64);
  if (length > size || 68 + 32 * Math.ceil(length / 32) !== calldata.length) return true;
  return calldata.subarray(68 + length).some((byte) => byte !== 0);
}

/** A word between heads and tails, with offsets that agree: decodable, but not canonical. */
function withGap(calldata: Uint8Array, args: number): Uint8Array {
  const heads = 4 + 32 * args;
  const gapped = new Uint8Array(calldata.length + 32);
  gapped.set(calldata.subarray(0, heads));
  gapped.set(calldata.subarray(heads), heads + 32);
  const view = new DataView(gapped.buffer);
  for (let i = 0; i < args; i++) view.setUint32(4 + 32 * i + 28, view.getUint32(4 + 32 * i + 28) + 32);
  return gapped;
}
