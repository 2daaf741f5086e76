/** Faults of LOOKUP that the record fuzzer must find, as those of record-faults.ts. */
import { fault, type Mutant, OPCODES, PLAN, ROWS } from "./mutant.ts";

const CLAMP = "if gt(row, most) { row := mul(most, lt(row, 0x80000000)) }";

export const LOOKUPS: readonly Mutant[] = [
  fault(
    "lookup",
    "a row that runs over a chunk's end reads zeros",
    `${ROWS}/LookupRows.sol`,
    "if gt(rest, CHUNK_BYTES) {",
    "if gt(rest, not(0)) {",
  ),
  fault(
    "lookup",
    "a planned row that runs over a chunk's end reads zeros",
    `${PLAN}/PlanLookup.sol`,
    "if gt(offset, sub(CHUNK_BYTES, rowBytes)) {",
    "if gt(offset, not(0)) {",
  ),
  fault(
    "lookup",
    "ids above the table's rows in memory are not clamped",
    `${ROWS}/LookupRows.sol`,
    `${CLAMP}\n                        if row {`,
    "if row {",
  ),
  fault(
    "lookup",
    "ids above the published table's rows are not clamped",
    `${ROWS}/LookupRows.sol`,
    `${CLAMP}\n                if row {`,
    "if row {",
  ),
  fault(
    "lookup",
    "ids above the table's rows are not clamped in a plan",
    `${PLAN}/PlanLookup.sol`,
    CLAMP,
    "row := mul(row, lt(row, 0x80000000))",
  ),
  fault(
    "lookup",
    "negative ids name the last row",
    `${PLAN}/PlanLookup.sol`,
    CLAMP,
    "if gt(row, most) { row := most }",
  ),
  fault(
    "lookup",
    "a picked row is read by elements as bytes",
    `${ROWS}/LookupRows.sol`,
    "uint256 rowBytes = table.last() * Shapes.elementBytes(table.code());",
    "uint256 rowBytes = table.last();",
  ),
  fault(
    "lookup",
    "the judge takes each id's element by its row",
    `${OPCODES}/Lookup.sol`,
    "uint256 row = t.element / table.last;",
    "uint256 row = t.element / t.out.last;",
  ),
  fault(
    "lookup",
    "places that do not count are compared by the judge",
    `${OPCODES}/Lookup.sol`,
    "if byte(0, mload(counts)) {",
    "if lt(row, not(0)) {",
  ),
  fault(
    "lookup",
    "the judge takes the mask's row by the output's",
    `${OPCODES}/Lookup.sol`,
    "uint256 maskRow = Shapes.broadcast(t.out, mask, t.element) / a.last;",
    "uint256 maskRow = t.element / a.last % mask.rows;",
  ),
  fault(
    "lookup",
    "a distance of 32 bits is below none",
    `${OPCODES}/Lookup.sol`,
    "uint256 distance = greatest - (idAt(row, column) ^ SIGN);",
    "uint256 distance = greatest - (idAt(row, column) ^ SIGN); if (distance >= SIGN) distance = 0;",
  ),
  fault(
    "lookup",
    "row 0 is summed by the judge",
    `${OPCODES}/Lookup.sol`,
    "if (id != 0) {",
    "if (id <= table.rows) {",
  ),
];
