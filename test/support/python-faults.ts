/** Faults that are put into a copy of the Python package, one for each opcode and more, where a reader of the text might
 *  go wrong: the conformance run must find each, in the area that is named. */
import type { Mutant } from "../../tools/mutant.ts";

type Edit = readonly [name: string, file: string, from: string, to: string];

const SIGNED = "promises/signed_claim.py";
const KERNELS = "exact/kernels.py";
const NUMBERS = "exact/numbers.py";
const RESCALE_RULES = "exact/rescale_rules.py";
const VALIDATE = "exact/validate.py";

const BY_AREA: Readonly<Record<string, readonly Edit[]>> = {
  structure: [["unused bytes of a record", "exact/decode.py", "fields.zero(14, 32)", "fields.zero(14, 15)"]],
  edges: [
    ["a step that reads itself", "exact/step_check.py", "else self.index\n", "else self.index + 1\n"],
    ["a claimed output of any dims", VALIDATE, "self.form == self.program.output, ", "True, "],
    ["a shift of 32", VALIDATE, "step.k < 32", "step.k < 33"],
    ["a multiplier of 0", RESCALE_RULES, 'step.k >= 1, "the', 'step.k >= 0, "the'],
    ["a norm of 8,193 bytes", VALIDATE, "MAX_NORM = 8192", "MAX_NORM = 8193"],
    [
      "a row of 1,025 activations",
      "exact/dot_rules.py",
      "a.dims[-1] <= MAX_ACTIVATIONS,",
      "a.dims[-1] <= MAX_ACTIVATIONS + 1,",
    ],
  ],
  calldata: [
    [
      "bytes behind the last argument",
      "exact/calldata.py",
      "if again != calldata:",
      "if calldata[:len(again)] != again:",
    ],
    ["7F is no space", "exact/text.py", String.raw`[^\x00-\x20\x7f]`, String.raw`[^\x00-\x20]`],
    ["a token of 32 bytes", "exact/text.py", "yield token[:MAX_TOKEN]", "yield token[:30]"],
    [
      "quotients round down",
      "exact/calldata.py",
      "return -size if difference < 0 else size",
      "return -size - 1 if difference < 0 else size",
    ],
  ],
  codec: [["subnormal numbers are read", "exact/calldata.py", "(size >= 0x0080_0000)", "(size > 0)"]],
  claimed: [
    ["an s8 without its sign", "exact/claimed.py", "128 if form.type is ElementType.S8 else 0", "0"],
    [
      "one pass too few",
      "exact/execute.py",
      "self.program.output.dims[0] + 1",
      "self.program.output.dims[0]",
    ],
  ],
  move: [
    [
      "a second axis that only runs backwards",
      KERNELS,
      "coordinate.b * index",
      "min(coordinate.b, 0) * index",
    ],
  ],
  lookup: [
    ["row 0 counts", KERNELS, "(column != 0)[:, None]", "(column >= 0)[:, None]"],
    [
      "a negative id is the last row",
      KERNELS,
      "rows = np.clip(ids, 0, len(table) - 1)",
      "rows = np.where(ids < 0, len(table) - 1, np.clip(ids, 0, len(table) - 1))",
    ],
    [
      "each id names the first element",
      "exact/execute.py",
      "kernels.pick(ids.reshape(-1), run",
      "kernels.pick(ids.reshape(-1) * (2 - step.variant), run",
    ],
    [
      "a place that does not count may be the largest",
      KERNELS,
      "np.where(counts, rows, S32_MIN).max(",
      "rows.max(",
    ],
    [
      "the mask's rows without broadcast",
      "exact/execute.py",
      "np.broadcast_to(mask, step.form.dims).reshape(rows.shape)",
      "np.resize(mask, rows.shape)",
    ],
    [
      "distances beyond the table begin again",
      KERNELS,
      "np.minimum(largest - rows, length - 1)",
      "(largest - rows) % length",
    ],
    ["what does not count is stored as 0", KERNELS, "else store(zeros, kind)", "else zeros.astype(np.uint8)"],
  ],
  dot: [
    [
      "groups by turns",
      KERNELS,
      "weights = rows.values.reshape(groups, -1, length)",
      "weights = rows.values.reshape(-1, groups, length).swapaxes(0, 1)",
    ],
    [
      "the last matrix first",
      KERNELS,
      "a.astype(np.float64), b.transpose(0, 2, 1)",
      "a.astype(np.float64), b[::-1].transpose(0, 2, 1)",
    ],
    ["the low plane first", KERNELS, "high, low = np.split(", "low, high = np.split("],
    ["without the weight offset", KERNELS, "exact - parameters.offset * sums", "exact"],
    ["what is rescaled has a bit more", KERNELS, "-limit), limit - 1)", "-limit), limit)"],
    [
      "what is added saturates",
      KERNELS,
      "wrap(numbers + addends)",
      "saturate(numbers + addends, ElementType.S32)",
    ],
    [
      "what is added is rescaled",
      KERNELS,
      "acc = wrap(exact - parameters.offset * sums + parameters.bias)",
      "acc = wrap(exact - parameters.offset * sums + parameters.bias + (0 if addends is None else addends))\n    addends = None",
    ],
    [
      "the first row is added to all rows",
      "exact/execute.py",
      "run.numbers(step.c).reshape(-1, step.form.dims[-1])",
      "run.numbers(step.c).reshape(-1, step.form.dims[-1])[:1]",
    ],
  ],
  requant: [
    [
      "the upper clamp first",
      KERNELS,
      "np.minimum(np.maximum(byte, parameters.lower), parameters.upper)",
      "np.maximum(np.minimum(byte, parameters.upper), parameters.lower)",
    ],
    [
      "half away from zero",
      NUMBERS,
      "rounded = np.rint(values).astype(np.float64)",
      "rounded = np.trunc(values + np.copysign(np.float32(0.5), values)).astype(np.float64)",
    ],
  ],
  rescale: [
    ["ratios without the half", KERNELS, "(2 * x * k + d) // (2 * d)", "(x * k) // d"],
    ["a divisor below 1 divides", KERNELS, "if d > 0 else 0", "if d != 0 else 0"],
    [
      "numbers of 16 bits are not clamped",
      KERNELS,
      "numbers = np.clip(rescaled, 0, 65_535)",
      "numbers = rescaled % 65_536",
    ],
    [
      "the two bytes of a number side by side",
      KERNELS,
      "return np.concatenate([numbers // 256, numbers % 256], axis=-1).astype(np.uint8)",
      "return np.stack([numbers // 256, numbers % 256], axis=-1).astype(np.uint8)",
    ],
    [
      "products with factors saturate",
      KERNELS,
      "planes(wrap(a * factors), parameters)",
      "planes(saturate(a * factors, ElementType.S32), parameters)",
    ],
    [
      "quotients of 16 bits do not saturate before",
      KERNELS,
      "planes(saturate(found, ElementType.S32), parameters)",
      "planes(wrap(found), parameters)",
    ],
    [
      "the divisor of the last row first",
      "exact/execute.py",
      "run.numbers(step.c).reshape(-1), step.k",
      "run.numbers(step.c).reshape(-1)[::-1], step.k",
    ],
    [
      "the first divisor of a row for all of it",
      "exact/execute.py",
      "run.numbers(step.c).reshape(-1), step.k",
      "run.numbers(step.c).reshape(len(rows), -1)[:, 0], step.k",
    ],
    [
      "the divisors of a row by turns",
      KERNELS,
      "quotients(rows.reshape(len(divisors), -1), divisors, k).reshape(rows.shape)",
      "quotients(rows.reshape(len(rows), -1, len(divisors) // len(rows)).swapaxes(1, 2).reshape(len(divisors), -1), divisors, k).reshape(len(rows), len(divisors) // len(rows), -1).swapaxes(1, 2).reshape(rows.shape)",
    ],
    [
      "the shift is not modulo 64",
      "exact/weights.py",
      'fields["shift"].astype(np.int64) & 63',
      'np.minimum(fields["shift"].astype(np.int64), 63)',
    ],
  ],
  table: [["the byte as a signed number", KERNELS, "return b[a]", "return b[a ^ 128]"]],
  arith: [
    ["rotations without the half", KERNELS, "(2 * values + 2**k) >> (k + 1)", "values >> k"],
    [
      "pairs are turned the other way",
      KERNELS,
      "x * c - y * s, x * s + y * c",
      "x * c + y * s, y * c - x * s",
    ],
    [
      "rotations saturate before they are rounded",
      KERNELS,
      "(2 * values + 2**k)",
      "(2 * np.clip(values, S32_MIN, S32_MAX) + 2**k)",
    ],
    [
      "rotations wrap to bytes",
      KERNELS,
      "store(saturate(rounded, output).astype(np.int64), output)",
      "store(saturate(rounded, ElementType.S32).astype(np.int64), output)",
    ],
    ["rotations of 64 bits", KERNELS, ">= 2**60:", ">= 2**99:"],
    [
      "a divisor below 0 divides",
      KERNELS,
      "value = np.where(b < 1, 0, np.sign(a) * (np.abs(a) // divisor))",
      "value = np.where(b == 0, 0, np.sign(a) * np.sign(b) * (np.abs(a) // np.maximum(np.abs(b), 1)))",
    ],
    ["quotients round down", KERNELS, "np.sign(a) * (np.abs(a) // divisor)", "a // divisor"],
    [
      "saturates without wrapping",
      KERNELS,
      "return store(saturate(wrap(value), output), output)",
      "return store(saturate(value, output), output)",
    ],
  ],
  float: [
    ["NaN keeps its bits", NUMBERS, "return np.where(np.isnan(values), NAN_BITS, bits)", "return bits"],
    [
      "subnormal results are zero",
      NUMBERS,
      "    return np.where(np.isnan(values), NAN_BITS, bits)",
      "    bits = np.where(np.abs(values) < np.float32(2**-126), bits & np.uint32(1 << 31), bits)\n    return np.where(np.isnan(values), NAN_BITS, bits)",
    ],
    [
      "dequant subtracts without wrapping",
      KERNELS,
      "difference = wrap(integers(operands[0], kinds[0]) - integers(operands[2], kinds[2]))",
      "difference = integers(operands[0], kinds[0]) - integers(operands[2], kinds[2])",
    ],
  ],
  reduce: [
    ["norms do not saturate", KERNELS, "min(root, S32_MAX)", "root & S32_MAX"],
    ["norms without k", KERNELS, "for x in row) + k)", "for x in row))"],
    [
      "sums do not wrap",
      KERNELS,
      "return store(wrap(rows.sum(axis=1)), ElementType.S32)",
      "return store(saturate(rows.sum(axis=1), ElementType.S32), ElementType.S32)",
    ],
  ],
  select: [
    ["only 1 is true", KERNELS, "np.where(condition != 0, yes, no)", "np.where(condition == 1, yes, no)"],
  ],
  outputs: [
    [
      "numbers wrap to 16 bits",
      "exact/output.py",
      'np.clip(integers(tensor, kind), -32_768, 32_767).astype(">i2")',
      'integers(tensor, kind).astype(">i2")',
    ],
  ],
  openings: [
    [
      "the first channel's parameters for all",
      "exact/element.py",
      "row = index if opened.program.form_of(step.b).count > 1 else 0",
      "row = 0",
    ],
    ["an opening too many", "exact/openings.py", "if next(self.openings, None) is not None:", "if False:"],
  ],
  reveals: [
    ["padding of any bytes", "exact/reveal.py", "if any(word[real_bytes(shape, leaf) :]):", "if False:"],
  ],
  programs: [
    [
      "rows without padding",
      "exact/commit.py",
      "return fold(nodes, height_of(rows.rows), ZERO_WORDS[rows.row_height :])",
      "return fold(nodes, height_of(rows.rows), ZERO_WORDS)",
    ],
  ],
  orders: [["parts above 7", "orders.py", "or parts > 7", ""]],
  signals: [
    [
      "ids always in three bytes",
      "exact/signals.py",
      "width = -(-(step.k - 1).bit_length() // 8)",
      "width = 3",
    ],
  ],
  receipts: [
    [
      "final a second early",
      "words.py",
      "now >= self.final_at(answer_seconds)",
      "now + 1 >= self.final_at(answer_seconds)",
    ],
  ],
  "signed-claims": [
    ["malleable signatures", SIGNED, "not 1 <= s <= ORDER // 2", "not 1 <= s < ORDER"],
    ["a v of 0 or 1", SIGNED, "if v not in (27, 28):", "v += 27 * (v < 2)\n    if v not in (27, 28):"],
  ],
  batches: [
    ["any offset", "promises/batch.py", "if offset != WORD:", "if False:"],
    ["one padding for all levels", "promises/batch.py", "padding = keccak(padding + padding)", "pass"],
    ["a path of any length", "promises/batch.py", "if len(path) != height_of(count):", "if False:"],
  ],
};

/** Of a random run this needs two operands that are zeros of both signs: binary32.json has them. */
export const VECTOR_FAULT: Mutant = {
  name: "float: a zero result of min and max keeps its sign",
  caughtBy: "test_binary32",
  edits: [
    {
      file: `assay/${KERNELS}`,
      from: "return np.where(values == 0, np.float32(0), values)",
      to: "return values",
    },
  ],
};

export const PYTHON_FAULTS: readonly Mutant[] = Object.entries(BY_AREA).flatMap(([caughtBy, edits]) =>
  edits.map(([name, file, from, to]) => ({
    name: `${caughtBy}: ${name}`,
    caughtBy,
    edits: [{ file: `assay/${file}`, from, to }],
  })),
);
