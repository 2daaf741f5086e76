/** Faults that are put into a copy of `crates/assay-exact`, one for each opcode and more, where a reader of the text
 *  might go wrong: the comparison with the canonical executor must find each. */
import type { Mutant } from "../../tools/mutant.ts";

const ELEMENT = "assay-exact/src/element.rs";
const DOT = "assay-exact/src/element/dot.rs";
const LOOKUP = "assay-exact/src/element/lookup.rs";
const RESCALE = "assay-exact/src/element/rescale.rs";
const RULES = "assay-exact/src/rules.rs";
const DOT_RULES = "assay-exact/src/rules/dot.rs";
const RESCALE_RULES = "assay-exact/src/rules/rescale.rs";
const ARITHMETIC = "assay-exact/src/arithmetic.rs";
const BINARY32 = "assay-exact/src/binary32.rs";
const PROMISES = "assay-exact/src/promises.rs";
const CALLDATA = "assay-exact/src/calldata.rs";

const fault = (name: string, caughtBy: string, file: string, from: string, to: string): Mutant => ({
  name,
  caughtBy,
  edits: [{ file, from, to }],
});

export const RUST_FAULTS: readonly Mutant[] = [
  fault(
    "MOVE: a second axis that only runs backwards",
    "move",
    ELEMENT,
    "i64::from(axis.b) *",
    "i64::from(axis.b).min(0) *",
  ),
  fault(
    "CODEC: a claimed output of any dims",
    "edges",
    RULES,
    "ensure!(form == last,",
    "ensure!(form.element_type == last.element_type,",
  ),
  fault(
    "CODEC: a claimed s8 without its sign",
    "claimed",
    "assay-exact/src/return_data.rs",
    "tensor.push(bytes[WORD - 1] ^ 0x80)",
    "tensor.push(bytes[WORD - 1])",
  ),
  fault(
    "CODEC: one pass too few for a claimed output",
    "claimed",
    "assay-exact/src/execute.rs",
    "dims.first() + 1;",
    "dims.first();",
  ),
  fault("LOOKUP: row 0 counts", "lookup", LOOKUP, "if id != 0 {", "if id < rows {"),
  fault(
    "LOOKUP: each element's id is the one of its row",
    "lookup",
    LOOKUP,
    "let width = self.dims(1).last();",
    "let width = self.step.form.dims.last();",
  ),
  fault(
    "LOOKUP: a negative id is the last row",
    "lookup",
    LOOKUP,
    "(stored as i32).max(0)",
    "(stored.min(0x7fff_ffff) as i32)",
  ),
  fault(
    "LOOKUP: a place that does not count may be the largest",
    "lookup",
    LOOKUP,
    ".filter(|&i| counts(i)).map(value)",
    ".map(value)",
  ),
  fault(
    "LOOKUP: the mask's rows without broadcast",
    "lookup",
    LOOKUP,
    "broadcast(self.index, &self.step.form.dims, self.dims(2)) / self.dims(2).last()",
    "self.place().0.min(self.dims(2).rows() - 1)",
  ),
  fault(
    "LOOKUP: distances beyond the table begin again",
    "lookup",
    LOOKUP,
    "distance.min(self.dims(1).rows() - 1)",
    "distance % self.dims(1).rows()",
  ),
  fault(
    "LOOKUP: what does not count is stored as 0",
    "lookup",
    LOOKUP,
    "return Ok(saturate(0, self.step.form.element_type));",
    "return Ok(0);",
  ),
  fault(
    "DOT: without the weight offset",
    "dot",
    DOT,
    "products - parameters.weight_offset() * sum +",
    "products +",
  ),
  fault("DOT: the first matrix for all rows", "dot", DOT, "m / self.step.k as usize", "0 * m"),
  fault("DOT: 1,025 activations", "edges", DOT_RULES, "ensure!(k <= 1024,", "ensure!(k <= 1025,"),
  fault("DOT: the low plane first", "dot", DOT, "[high, low].map(", "[low, high].map("),
  fault("DOT: what is rescaled is not clamped", "dot", ARITHMETIC, ".max(-limit).min(limit - 1) as", " as"),
  fault(
    "DOT: what is added saturates",
    "dot",
    DOT,
    "parameters.limited(acc).wrapping_add(self.addend()?)",
    "(parameters.limited(acc) as i32).saturating_add(self.addend()? as i32) as u32",
  ),
  fault(
    "DOT: what is added is rescaled",
    "dot",
    DOT,
    "parameters.limited(acc).wrapping_add(self.addend()?)",
    "parameters.limited(wrap(acc + i64::from(self.addend()? as i32)))",
  ),
  fault(
    "DOT: the first row is added to all rows",
    "dot",
    DOT,
    "c => self.operands.element(c, self.index)",
    "c => self.operands.element(c, self.place().1)",
  ),
  fault("DOT: groups by turns", "dot", DOT, "n * groups / rows", "n % groups"),
  fault(
    "REQUANT: the upper clamp first",
    "requant",
    ARITHMETIC,
    ".max(lower).min(upper)",
    ".min(upper).max(lower)",
  ),
  fault(
    "RESCALE: the shift is not modulo 64",
    "rescale",
    ARITHMETIC,
    "self.0[16] & 63",
    "self.0[16].min(63)",
  ),
  fault(
    "RESCALE: ratios are rounded toward zero",
    "rescale",
    RESCALE,
    "numerator.div_euclid(2 * i128::from(divisor))",
    "numerator / (2 * i128::from(divisor))",
  ),
  fault(
    "RESCALE: a ratio's divisor is that of its column",
    "rescale",
    RESCALE,
    "let row = self.place().0;",
    "let row = self.place().1 % self.dims(1).count();",
  ),
  fault(
    "RESCALE: any number of divisors",
    "edges",
    RESCALE_RULES,
    "ensure!(count == rows,",
    "ensure!(count >= rows,",
  ),
  fault(
    "RESCALE: numbers of 16 bits are not clamped",
    "rescale",
    RESCALE,
    ".clamp(0, 65_535) as u32",
    ".rem_euclid(65_536) as u32",
  ),
  fault(
    "RESCALE: quotients of 16 bits do not saturate before",
    "rescale",
    RESCALE,
    "number(saturate(quotient, ElementType::S32), ElementType::S32)",
    "quotient",
  ),
  fault(
    "RESCALE: a quotient's divisor is that of the row of a",
    "rescale",
    RESCALE,
    "self.quotient(x, divisors, row)?;",
    "self.quotient(x, divisors, ((row * count + place % count) / self.dims(0).last()).min(self.dims(2).count() - 1))?;",
  ),
  fault("RESCALE: a divisor below 1 leaves the number", "rescale", RESCALE, "return Ok(0);", "return Ok(x);"),
  fault("TABLE: the byte as a signed number", "table", ELEMENT, "byte as usize)", "(byte ^ 0x80) as usize)"),
  fault("ARITH: a divisor below 0 divides", "arith", ELEMENT, "5 if b < 1", "5 if b == 0"),
  fault(
    "ARITH: rotations are rounded toward zero",
    "arith",
    ELEMENT,
    "(2 * value + (1 << self.step.k)) >> (self.step.k + 1)",
    "(2 * value + (1 << self.step.k)) / (2 << self.step.k)",
  ),
  fault(
    "ARITH: pairs are turned the other way",
    "arith",
    ELEMENT,
    "{ x * c - y * s } else { x * s + y * c }",
    "{ x * c + y * s } else { y * c - x * s }",
  ),
  fault(
    "ARITH: rotations saturate before they are rounded",
    "arith",
    ELEMENT,
    "(2 * value + (1 << self.step.k))",
    "(2 * value.clamp(i32::MIN.into(), i32::MAX.into()) + (1 << self.step.k))",
  ),
  fault(
    "ARITH: rotations wrap to bytes",
    "arith",
    ELEMENT,
    "Ok(saturate(narrow, self.step.form.element_type))",
    "Ok(saturate(if self.step.form.element_type.size() == 1 { narrow as i8 as i64 } else { narrow }, self.step.form.element_type))",
  ),
  fault(
    "ARITH: rotations to s8 are stored without 128",
    "arith",
    ELEMENT,
    "Ok(saturate(narrow, self.step.form.element_type))",
    "Ok(saturate(narrow, self.step.form.element_type) ^ if self.step.form.element_type == ElementType::S8 { 128 } else { 0 })",
  ),
  fault("ARITH: an element without its pair", "edges", RULES, "ensure!(length % 2 == 0,", "ensure!(true,"),
  fault(
    "ARITH: saturates without wrapping",
    "arith",
    ELEMENT,
    "saturate(wrap(value), output)",
    "saturate(value, output)",
  ),
  fault(
    "FLOAT: half away from zero",
    "float",
    BINARY32,
    "((size + INTEGRAL) - INTEGRAL).copysign(x)",
    "((size + 0.5) as i32 as f32).copysign(x)",
  ),
  fault("FLOAT: NaN keeps its bits", "float", BINARY32, "if value.is_nan() {", "if false {"),
  fault("REDUCE: norms do not saturate", "reduce", ELEMENT, ".isqrt().min(i32::MAX as u128)", ".isqrt()"),
  fault(
    "REDUCE: norms without k",
    "reduce",
    ELEMENT,
    "(sum + u128::from(self.step.k)).isqrt()",
    "sum.isqrt()",
  ),
  fault("REDUCE: norms of 8,193 bytes", "edges", RULES, "{ 8192 / a", "{ 8193 / a"),
  fault(
    "REDUCE: of bools a truth instead of a byte",
    "reduce",
    ELEMENT,
    "_ => stored.max_by_key(by_number).unwrap_or(0)",
    "_ => stored.max_by_key(by_number).unwrap_or(0).min(if element_type as u8 == 4 { 1 } else { u32::MAX })",
  ),
  fault(
    "SELECT: only 1 is true",
    "select",
    ELEMENT,
    "if condition != 0 { yes }",
    "if condition == 1 { yes }",
  ),
  fault("CODEC: a subnormal number is read", "codec", CALLDATA, "value.is_normal()", "value.is_finite()"),
  fault(
    "signatures: malleable ones",
    "signed-claims",
    "assay-exact/src/signature.rs",
    "ensure!(parsed.normalize_s() == parsed,",
    "let parsed = parsed.normalize_s();\n    ensure!(parsed.normalize_s() == parsed,",
  ),
  fault("leaves: any offset", "batches", PROMISES, "offset == WORD as u32,", "offset >= offset.min(1),"),
  fault(
    "leaves: words without a sign",
    "batches",
    PROMISES,
    "data.extend([fill; WORD - 4]);",
    "data.extend([fill & 0; WORD - 4]);",
  ),
  fault("batches: a leaf too many", "batches", PROMISES, "(1..=MAX_LEAVES)", "(1..=MAX_LEAVES + 1)"),
];
