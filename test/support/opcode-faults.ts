/** Faults of single opcodes, by the area that must find them. */

/** A fault: its name, and the text of a file that becomes another. */
export type Edit = readonly [name: string, file: string, from: string, to: string];

const OPCODES = "inference/opcodes/";
const CODECS = "inference/codecs/";

export const OPCODE_FAULTS: Readonly<Record<string, readonly Edit[]>> = {
  codec: [
    [
      "subnormal numbers are read",
      `${CODECS}raw.ts`,
      "size < SMALLEST_NORMAL || size > LARGEST",
      "size > LARGEST",
    ],
    [
      "16-bit numbers from the start",
      `${CODECS}int16s.ts`,
      "out[i] = numbers[k + i] as number",
      "out[i] = numbers[i] as number",
    ],
  ],
  move: [
    [
      "a second axis only runs forwards",
      `${OPCODES}move.ts`,
      "+ b * (index[q] as number) + c",
      "+ Math.max(b, 0) * (index[q] as number) + c",
    ],
    [
      "the pad is zero",
      `${OPCODES}move.ts`,
      "target[i] = from === PAD ? pad :",
      "target[i] = from === PAD ? 0 :",
    ],
    [
      "gaps keep the pad",
      `${OPCODES}move.ts`,
      "if (map[i] === PAD) target[i] = other[i] as number",
      "if (map[i] === PAD) target[i] = 0",
    ],
  ],
  lookup: [
    ["row 0 counts", `${OPCODES}lookup.ts`, "if (id === 0) continue;", ""],
    [
      "a negative id is the last row",
      `${OPCODES}lookup.ts`,
      "id < 0 ? 0 : Math.min(id, last)",
      "id < 0 ? last : Math.min(id, last)",
    ],
    [
      "the kernel takes an id behind the table for its last but one",
      `${OPCODES}lookup.ts`,
      "clamp(ids[row] as number, v - 1) * d, d)",
      "clamp(ids[row] as number, Math.max(0, v - 2)) * d, d)",
    ],
    [
      "places that do not count are compared",
      `${OPCODES}below.ts`,
      "(mask === undefined || mask[start + i] !== 0) &&",
      "",
    ],
    ["the mask's row is the output's", `${OPCODES}below.ts`, "maskRows?.[row] ?? row", "row"],
    [
      "what does not count is stored as 0",
      `${OPCODES}below.ts`,
      'type === "s8" ? 128 : 0',
      'type === "u8" ? 0 : 0',
    ],
    [
      "distances of 32 bits wrap",
      `${OPCODES}below.ts`,
      "Math.min(most - (numbers[at + i] as number), last)",
      "Math.min((most - (numbers[at + i] as number)) & 0x7fffffff, last)",
    ],
  ],
  dot: [
    [
      "what is added begins anew with each group",
      `${OPCODES}dot.ts`,
      "+ (added[i] as number)",
      "+ (added[i - from] as number)",
    ],
    [
      "what is rescaled keeps the sign's bit alone",
      `${OPCODES}wasm-channel-forms.ts`,
      '...byte("upper"), ...number64(31), OP.and64,',
      '...byte("upper"), ...number64(15), OP.and64,',
    ],
    ["without the weight offset", `${OPCODES}dot.ts`, "offsets[i] = weightOffset;", ""],
    [
      "groups the other way round",
      `${OPCODES}dot.ts`,
      "const channel = group * perGroup;",
      "const channel = (groups - 1 - group) * perGroup;",
    ],
    [
      "the first matrix for all rows",
      `${OPCODES}dot-activations.ts`,
      "const first = (loaded / step.k) * n * k;",
      "const first = 0 * loaded;",
    ],
    [
      "signed activations of b as they are stored",
      `${OPCODES}dot-activations.ts`,
      "new Int32Array(n).fill(bZero)",
      "new Int32Array(n).fill(0)",
    ],
    ["signed activations of a as they are stored", `${OPCODES}dot-activations.ts`, "zero: aZero", "zero: 0"],
    [
      "low bytes from the beginning of the row",
      `${OPCODES}products.ts`,
      "accumulate(low, a, at + k, weights, group * rows * k, k);",
      "accumulate(low, a, at, weights, group * rows * k, k);",
    ],
    [
      "the low bytes have no part in the sum of the row",
      `${OPCODES}products.ts`,
      "for (let i = 0; i < width; i++) own[i] =",
      "for (let i = 0; i < rows; i++) own[i] =",
    ],
    [
      "vectors leave numbers less their middle",
      `${OPCODES}simd-products.ts`,
      "isNumbers ? MIDDLE : -zero",
      "isNumbers ? 0 : -zero",
    ],
    [
      "of two rows the sum of the first one for both",
      `${OPCODES}simd-loops.ts`,
      "loadSplat(4 * activation)",
      "loadSplat(0)",
    ],
    [
      "the bias twice, by the sums and by requantization",
      `${OPCODES}dot.ts`,
      "if (isBiased) starts[i] = bias;",
      "starts[i] = bias;",
    ],
  ],
  requant: [
    [
      "the upper clamp first",
      `${OPCODES}wasm-channel-forms.ts`,
      '...clamped("lower", OP.greaterSigned64), ...clamped("upper", OP.lessSigned64)',
      '...clamped("upper", OP.lessSigned64), ...clamped("lower", OP.greaterSigned64)',
    ],
    [
      "rounds half up: the floor of one half more",
      `${OPCODES}wasm-channel-forms.ts`,
      "OP.nearestFloat32, ...OP.toSaturated32",
      "0x43, 0, 0, 0, 0x3f, 0x92, 0x8e, ...OP.toSaturated32",
    ],
    [
      "without the zero point",
      `${OPCODES}channel-forms.ts`,
      "table[at + FIELDS.zeroPoint] = parameters.zeroPoint;",
      "",
    ],
  ],
  rescale: [
    [
      "the shift is not modulo 64",
      `${OPCODES}channel-forms.ts`,
      "table[at + FIELDS.shift] = parameters.shift;",
      "table[at + FIELDS.shift] = Math.min(parameters.shift, 63);",
    ],
    [
      "products wrap modulo 2^32",
      `${OPCODES}wasm-channel-forms.ts`,
      "OP.multiply64]",
      "OP.multiply64, OP.wrap64, OP.extend32]",
    ],
    [
      "the bias does not wrap",
      `${OPCODES}wasm-channel-forms.ts`,
      "...accumulator, OP.extend32,",
      '...numberAt, OP.load32, ...at(NUMBERS), OP.extend32, ...field(OP.load32, "bias"), OP.extend32, OP.add64,',
    ],
    [
      "numbers of 16 bits wrap",
      `${OPCODES}wasm-channel-forms.ts`,
      "...[...limited(0, OP.greaterSigned32), ...limited(MOST_NUMBER, OP.lessSigned32)],",
      "",
    ],
    [
      "low bytes stand first",
      `${OPCODES}requantizer.ts`,
      "const { bytes, lowBytes } = this.#forms;",
      "const { bytes: lowBytes, lowBytes: bytes } = this.#forms;",
    ],
    [
      "ratios are rounded toward zero",
      `${OPCODES}ratio.ts`,
      "Math.floor((product + divisor)",
      "Math.trunc((product + divisor)",
    ],
    ["a divisor below 1 divides", `${OPCODES}ratio.ts`, "if (divisor < 1) return 0;", ""],
    [
      "all quotients of a row of planes are by its first divisor",
      `${OPCODES}planes.ts`,
      "into.subarray(part * count), own, multiplier, divisor)",
      "into.subarray(part * count), own, multiplier, divisors[0] as number)",
    ],
    [
      "all products of planes are by a row's first factor",
      `${OPCODES}planes.ts`,
      "factors[from + i] as number",
      "factors[from] as number",
    ],
    ["ratios of s8 as stored", `${OPCODES}ratio.ts`, 'aType === "s8" ? 128 : 0', 'aType === "u8" ? 0 : 0'],
  ],
  table: [
    [
      "the byte as a signed number",
      `${OPCODES}table.ts`,
      "entries[input[i] as number] as number",
      "entries[(input[i] as number) ^ 128] as number",
    ],
  ],
  arith: [
    ["a divisor below 0 divides", `${OPCODES}arith.ts`, "divisor < 1 ? 0 :", "divisor === 0 ? 0 :"],
    [
      "rotations are rounded toward zero",
      `${OPCODES}rotate.ts`,
      "Math.floor((second + half)",
      "Math.trunc((second + half)",
    ],
    ["bytes of rotations wrap", `${OPCODES}rotate.ts`, "saturateInto(out, type, found);", "out.set(found);"],
    ["pairs are turned the other way", `${OPCODES}rotate.ts`, "x * c - y * s;", "x * c + y * s;"],
    [
      "the quotient rounds down",
      `${OPCODES}arith.ts`,
      "((a[i] as number) / divisor) | 0",
      "Math.floor((a[i] as number) / divisor)",
    ],
    [
      "s8 saturates as u8",
      `${OPCODES}saturate.ts`,
      'const offset = type === "s8" ? 128 : 0;',
      "const offset = 0;",
    ],
    [
      "less or equal",
      `${OPCODES}arith.ts`,
      "(a[i] as number) < (b[i] as number) ? 1 : 0",
      "(a[i] as number) <= (b[i] as number) ? 1 : 0",
    ],
  ],
  float: [
    [
      "NaN is the lower clamp",
      `${OPCODES}rounding.ts`,
      "if (Number.isNaN(x)) return 0;",
      "if (Number.isNaN(x)) return S32_MIN;",
    ],
    [
      "NaN keeps its bits",
      `${OPCODES}float.ts`,
      "if (Number.isNaN(out[i])) bits[i] = CANONICAL_NAN",
      "if (Number.isNaN(out[i])) bits[i] = -4194304",
    ],
    [
      "the zero point does not wrap",
      `${OPCODES}float.ts`,
      "((value[i] as number) - (zero[i] as number)) | 0",
      "(value[i] as number) - (zero[i] as number)",
    ],
    [
      "a minimum keeps the sign of zero",
      `${OPCODES}float.ts`,
      "Math.min(a[i] as number, b[i] as number) + 0;",
      "Math.min(a[i] as number, b[i] as number);",
    ],
  ],
  reduce: [
    ["norms with 31 bits of k", `${OPCODES}norm.ts`, "+ BigInt(k);", "+ BigInt(k & 0x7fffffff);"],
    ["a norm of s8 as stored", `${OPCODES}norm.ts`, 'type === "s8" ? 128 : 0', 'type === "u8" ? 0 : 0'],
    [
      "a norm that is rounded to the nearest",
      `${OPCODES}norm.ts`,
      "(root + 1n) * (root + 1n) <= total",
      "root * root + root < total",
    ],
    ["norms wrap", `${OPCODES}norm.ts`, "if (total >= 1n << 62n) return LARGEST;", ""],
    ["s8 without its offset", `${OPCODES}reduce.ts`, "result = (result - offset) | 0;", ""],
    [
      "the maximum is the last",
      `${OPCODES}reduce.ts`,
      "if ((data[at] as number) > result) result = data[at]",
      "if ((data[at] as number) >= 0) result = data[at]",
    ],
  ],
  select: [["only 1 is true", `${OPCODES}select.ts`, "condition[i] === 0 ?", "condition[i] !== 1 ?"]],
};
