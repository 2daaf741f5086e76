/** Faults that `npm run test:mutants` puts into kernels, plans, compiled code and element functions: those that were once
 *  in them, and others of the kind, each in the form that it takes in the code of today. The record fuzzer
 *  (test/contracts/fuzz) must find each. */
import { DOTS } from "./dot-faults.ts";
import { LOOKUPS } from "./lookup-faults.ts";
import { fault, LIBRARIES, type Mutant, OPCODES, PLAN, ROWS } from "./mutant.ts";

export const RECORDS = "test/contracts/fuzz/Records.t.sol";

const MOVES: readonly Mutant[] = [
  fault(
    "move",
    "a row is the last dim, not the axes that were joined",
    `${ROWS}/MoveRows.sol`,
    "Runs memory r = _innerAxes(plan, size);",
    "Runs memory r = _innerAxes(plan, size); if (flat.last() < r.length) r.length = flat.last();",
  ),
  fault(
    "move",
    "a joined axis keeps the inner one's length",
    `${ROWS}/MovePlan.sol`,
    "if iszero(isNew) { mstore(top, mul(size, length)) }",
    "",
  ),
  fault(
    "move",
    "rows behind the last whole block are not transposed",
    `${ROWS}/CopyRuns.sol`,
    "uint256 lastRun = r.runs - BLOCK;",
    "uint256 lastRun = (r.runs & ~uint256(7)) - BLOCK;",
  ),
  fault(
    "move",
    "columns behind the last whole block are not transposed",
    `${ROWS}/CopyRuns.sol`,
    "uint256 last = r.length - BLOCK;",
    "uint256 last = (r.length & ~uint256(7)) - BLOCK;",
  ),
  fault(
    "move",
    "a loop ends by the source's address, where the step may be 0 or negative",
    `${ROWS}/CopyRuns.sol`,
    "for { let early := sub(end, size) } lt(place, early) {} {",
    "for { let early := add(source, mul(step, sub(div(length, size), 1))) } lt(from, early) {} {",
  ),
  fault(
    "move",
    "what a run's last store spills is not put back",
    `${ROWS}/CopyRuns.sol`,
    "mstore(end, behind)",
    "",
  ),
  fault(
    "move",
    "shared memory begins at a byte, not at an element",
    `${ROWS}/MoveRows.sol`,
    "return out.at(a.pointer() + plan.word(0) * Shapes.elementBytes(out.code()));",
    "return out.at(a.pointer() + plan.word(0));",
  ),
  fault(
    "move",
    "a planned part begins at a byte, not at an element",
    `${PLAN}/PlanMoves.sol`,
    "return out.at(a.pointer() + first * Shapes.elementBytes(out.code()));",
    "return out.at(a.pointer() + first);",
  ),
  fault(
    "move",
    "the outer axes of a plan go on by the source's step",
    `${PLAN}/PlanMoves.sol`,
    "to += i % length * outStep;",
    "to += i % length * step;",
  ),
  fault(
    "move",
    "a pad in front of the box only",
    `${PLAN}/PlanMoves.sol`,
    "_fill(d, flat, b, pad, from + length, count);",
    "",
  ),
  fault(
    "move",
    "steps of a plan without their sign",
    `${PLAN}/Instruction.sol`,
    "value := signextend(2, shr(at, i))",
    "value := and(shr(at, i), U24)",
  ),
  fault(
    "move",
    "the judge's second axis without its sign",
    `${OPCODES}/Move.sol`,
    "let b := signextend(2, shr(COORDINATE_B, coordinate))",
    "let b := and(shr(COORDINATE_B, coordinate), 0xFFFFFF)",
  ),
];

const PARAMETERS: readonly Mutant[] = [
  fault(
    "requant",
    "parameters of the next channel",
    `${ROWS}/RequantRows.sol`,
    "Parameters word = Parameters.wrap(Memory.load(parameters + 32 * channel));",
    "Parameters word = Parameters.wrap(Memory.load(parameters + 32 * ((channel + 1) % channels)));",
  ),
  fault(
    "requant",
    "binary32: parameters of other rows",
    `${ROWS}/RequantRows.sol`,
    "Parameters.wrap(Memory.load(parameters + 32 * (i % channels))).bias();",
    "Parameters.wrap(Memory.load(parameters + 32 * (i / channels % channels))).bias();",
  ),
  fault(
    "requant",
    "the clamps' order",
    `${ROWS}/RequantRows.sol`,
    "if slt(value, lower) { value := lower }\n                if sgt(value, parameters) { value := parameters }",
    "if sgt(value, parameters) { value := parameters }\n                if slt(value, lower) { value := lower }",
  ),
  fault(
    "requant",
    "a plan takes the channels for the columns",
    `${PLAN}/PlanRun.sol`,
    "uint256 channels = i.u24(REQUANT_CHANNELS);",
    "uint256 channels = isRescale ? i.u24(REQUANT_CHANNELS) : 1;",
  ),
  fault(
    "rescale",
    "parameters of other rows",
    `${ROWS}/RescaleRows.sol`,
    "Parameters word = Parameters.wrap(Memory.load(parameters + 32 * (i % channels)));",
    "Parameters word = Parameters.wrap(Memory.load(parameters + 32 * (i / channels % channels)));",
  ),
  fault(
    "rescale",
    "the dispatcher takes REQUANT",
    "verifier-contracts/generated/Kernels.sol",
    "if (opcode == OP_RESCALE) return RescaleRows",
    "if (opcode == OP_RESCALE) return RequantRows",
  ),
  fault(
    "rescale",
    "ratios are rounded toward zero",
    `${OPCODES}/Rescale.sol`,
    "if (quotient * divisor > numerator) --quotient;",
    "",
  ),
  fault(
    "rescale",
    "a ratio's divisor is that of its column",
    `${OPCODES}/Rescale.sol`,
    "Openings.openElement(t, openings, divisors, t.element / t.out.last);",
    "Openings.openElement(t, openings, divisors, t.element % t.out.last % divisors.rows);",
  ),
  fault(
    "rescale",
    "quotients are not held to s32 before they are rescaled",
    `${OPCODES}/Rescale.sol`,
    "return Values.clamp(ratio(x, k, number), type(int32).min, type(int32).max);",
    "return ratio(x, k, number);",
  ),
  fault(
    "rescale",
    "the divisors of a row take turns",
    `${OPCODES}/Rescale.sol`,
    "index * parts / (t.out.last / 2);",
    "index % parts;",
  ),
  fault(
    "rescale",
    "products with factors are held to s32",
    `${OPCODES}/Rescale.sol`,
    "return Values.wrap(x * number);",
    "return Values.clamp(x * number, type(int32).min, type(int32).max);",
  ),
  fault(
    "rescale",
    "the channel of a byte of planes is that of half its place in the row",
    `${OPCODES}/Rescale.sol`,
    "Requant.openAt(t, openings, element, index);",
    "Requant.openAt(t, openings, element, column / 2);",
  ),
  fault(
    "rescale",
    "numbers of 16 bits wrap",
    `${OPCODES}/Rescale.sol`,
    "uint256(Values.clamp(Values.wrap(int256(stored)), 0, MOST_NUMBER))",
    "stored & 0xFFFF",
  ),
  fault(
    "rescale",
    "low bytes stand first",
    `${OPCODES}/Rescale.sol`,
    "return column < length ? number / 256 : number % 256;",
    "return column < length ? number % 256 : number / 256;",
  ),
  fault("rescale", "a divisor of 0 divides", `${OPCODES}/Rescale.sol`, "divisor < 1)", "divisor < 0)"),
];

const ELEMENTS: readonly Mutant[] = [
  fault(
    "arith",
    "bytes of what is turned are not held to a byte",
    `${OPCODES}/Arith.sol`,
    "Values.saturate(t.out.code, rotate(",
    "Values.saturate(TYPE_S32, rotate(",
  ),
  fault(
    "arith",
    "an operand stretched at its end is repeated as a whole",
    `${ROWS}/Broadcast.sol`,
    "if (leading == count) {",
    "if (leading > count) {} else if (leading == count) { _double(pointer, x.pointer(), count * bytesOf, outCount * bytesOf); } else if (leading == 0 && leading == count) {",
  ),
  fault(
    "arith",
    "eight quotients by the first divisor, if that is a power of two",
    `${LIBRARIES}/Swar.sol`,
    "switch and(eq(mul(d, ONES), y), and(",
    "switch and(gt(d, 0), and(",
  ),
  fault(
    "arith",
    "a planned quotient by a divisor below 1",
    `${PLAN}/PlanWords.sol`,
    "mul(sgt(divisor, 0), sdiv(sar(FIRST_U32, mload(a)), divisor))",
    "sdiv(sar(FIRST_U32, mload(a)), divisor)",
  ),
  fault(
    "arith",
    "a planned cast of what is negative saturates at the wrong end",
    `${PLAN}/PlanWords.sol`,
    "if gt(value, 255) { value := mul(255, sgt(value, 0)) }",
    "if gt(value, 255) { value := 255 }",
  ),
  fault(
    "arith",
    "the last comparison is for what no other one is",
    `${OPCODES}/Arith.sol`,
    "return variant == LE ? a <= b : a == b;",
    "return a <= b;",
  ),
  fault(
    "arith",
    "rotations are rounded toward zero",
    `${OPCODES}/Arith.sol`,
    "(2 * value + int256(1 << shift)) >> (shift + 1)",
    "(2 * value + int256(1 << shift)) / int256(2 << shift)",
  ),
  fault(
    "arith",
    "pairs are turned the other way",
    `${OPCODES}/Arith.sol`,
    "isFirst ? x * c - y * s : x * s + y * c",
    "isFirst ? x * c + y * s : y * c - x * s",
  ),
  fault(
    "arith",
    "a pair of a word is that of its half",
    `${OPCODES}/Arith.sol`,
    "NUMBER_BITS * (column & 6)",
    "NUMBER_BITS * (column & 4)",
  ),
  fault(
    "float",
    "the third operand stands where the second does",
    `${ROWS}/FloatRows.sol`,
    "place := add(place, shl(2, count))",
    "",
  ),
  fault(
    "float",
    "an operand of bytes is four bytes wide",
    `${ROWS}/FloatRows.sol`,
    "uint256 size = count * Shapes.elementBytes(a.code());",
    "uint256 size = count * 4;",
  ),
  fault(
    "reduce",
    "extremes of s32 rows without the last word",
    `${LIBRARIES}/Swar.sol`,
    "let x := xor(mload(last), flip)",
    "let x := xor(mload(row), flip)",
  ),
  fault(
    "reduce",
    "a sum of s8 is one of u8",
    `${OPCODES}/Reduce.sol`,
    "if (code == TYPE_S8) total -= 128 * count;",
    "",
  ),
  fault(
    "reduce",
    "rows follow one another by their elements, not by their bytes",
    `${ROWS}/ReduceRows.sol`,
    "row += size * count;",
    "row += count;",
  ),
  fault(
    "reduce",
    "a norm of s8 is one of u8",
    `${OPCODES}/Reduce.sol`,
    "code == TYPE_S32 ? 0x80000000 : code == TYPE_S8 ? 128 : 0;",
    "code == TYPE_S32 ? 0x80000000 : 0;",
  ),
  fault(
    "reduce",
    "a norm is not capped",
    `${OPCODES}/Reduce.sol`,
    "return length < LARGEST_S32 ? length : LARGEST_S32;",
    "return length & 0xFFFFFFFF;",
  ),
  fault(
    "select",
    "a condition is its lowest bit",
    `${ROWS}/SelectRows.sol`,
    "if byte(0, mload(condition)) { from := yes }",
    "if and(1, byte(0, mload(condition))) { from := yes }",
  ),
  fault(
    "select",
    "a planned operand that is one element goes on",
    `${PLAN}/PlanWords.sol`,
    "c := add(c, and(shr(SELECT_OTHER_STEP, i), U8))",
    "c := add(c, bytesOf)",
  ),
  fault(
    "table",
    "the last element is left out",
    `${ROWS}/TableRows.sol`,
    "for { let end := add(target, count) } lt(target, end) { target := add(target, 1) } {\n                mstore8",
    "for { let end := add(target, count) } lt(target, sub(end, gt(count, 64))) { target := add(target, 1) } {\n                mstore8",
  ),
];

/** All of them. */
export const RECORD_FAULTS: readonly Mutant[] = [...MOVES, ...LOOKUPS, ...DOTS, ...PARAMETERS, ...ELEMENTS];

/** What the records of several opcodes reach: a fault in it is planted alone. */
const SHARED = `${ROWS}/Broadcast.sol`;

/** In sets of which each has one fault for a test at most: a set is compiled and run at once. */
export function inSets(faults: readonly Mutant[]): Mutant[][] {
  const sets: Mutant[][] = [];
  for (const one of faults) {
    const isShared = one.edits.some(({ file }) => file === SHARED);
    const free = sets.find((set) =>
      set.every(({ caughtBy, edits }) => caughtBy !== one.caughtBy && edits[0]?.file !== SHARED),
    );
    if (free === undefined || isShared) sets.push([one]);
    else free.push(one);
  }
  return sets;
}
