import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fieldLiterals, NO_FIELDS } from "../../tools/check-words.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { listFiles } from "../../tools/tracked-files.ts";

const found = (text: string, file = "verifier-contracts/libraries/Some.sol"): string[] =>
  fieldLiterals(file, text).map(({ line, text }) => `${line}: ${text}`);

describe("fieldLiterals", () => {
  test("default: the contracts have none", () => {
    const contracts = listFiles().filter((file) => /^verifier-contracts\/.*\.sol$/.test(file));
    expect(contracts.length).toBeGreaterThan(100);
    const findings = contracts.flatMap((file) =>
      fieldLiterals(file, readFileSync(join(projectRoot, file), "utf8")),
    );
    expect(findings).toEqual([]);
  });

  test.each([
    ["uint8(word >> 16)", "1: >> 16"],
    ["word |= uint256(lanes) << 8;", "1: << 8"],
    ["stored <<= 96;", "1: <<= 96"],
    ["x = (word >> (208 - 16 * i)) & 0xFFFF;", "1: >> (208"],
    ["let a := and(shr(0xC0, word), 0xFFFFFF)", "1: shr(0xC0,"],
    ["let a := sar( 224 , word)", "1: sar( 224 ,"],
    ["mstore(out, shl(160, made))", "1: shl(160,"],
    ["let q := byte(31, coordinate)", "1: byte(31,"],
    ["// a comment\nuint8(word >> 1_6)", "2: >> 1_6"],
  ])("error: %s", (code, finding) => {
    expect(found(code)).toEqual([finding]);
  });

  test.each([
    "(word >> FACTS_LAST) & 0xFFFFFFFF",
    "let a := and(shr(COPY_SIZE, i), U24)",
    "uint256 constant ONE_DEMAND = 1 << 16;",
    "let size := shl(5, words.length)",
    "let first := byte(0, mload(place))",
    "stored >> (256 - 8 * size)",
    "// bits 16.. : word >> 16",
    "/* word >> 16 */",
    'require(x, "a >> 16")',
  ])("behavior: no field: %s", (code) => {
    expect(found(code)).toEqual([]);
  });

  test("behavior: a planted literal in a contract is found", () => {
    const file = "verifier-contracts/execution/plan/PlanRun.sol";
    const text = readFileSync(join(projectRoot, file), "utf8");
    const planted = text.replace("i.u24(DOT_GROUPS)", "(Instruction.unwrap(i) >> 80) & 0xFFFFFF");
    expect(planted).not.toBe(text);
    expect(fieldLiterals(file, planted).map(({ text }) => text)).toEqual([">> 80"]);
  });

  test("behavior: a field under a literal mask is found in a listed file, too", () => {
    const file = "verifier-contracts/opcodes/Dot.sol";
    expect(found("let a := and(shr(80, parameters), 0xFF)", file)).toEqual(["1: shr(80,"]);
    expect(found("uint256 a = (parameters >> 80) & 0xFF;", file)).toEqual(["1: >> 80"]);
    expect(found("let a := and(shr(16, x), LANES)", file)).toEqual([]);
  });

  test("behavior: only contracts are read, and files that are listed exist and need it", () => {
    expect(found("word >> 16", "verifier-contracts/generated/Codes.sol")).toEqual([]);
    expect(found("word >> 16", "test/contracts/A.t.sol")).toEqual([]);
    for (const [file, reason] of Object.entries(NO_FIELDS)) {
      const path = join(projectRoot, "verifier-contracts", file);
      expect(existsSync(path), file).toBe(true);
      expect(reason).not.toBe("");
      // Under another name the same text has findings: else it need not be listed.
      expect(found(readFileSync(path, "utf8")), file).not.toEqual([]);
    }
  });
});
