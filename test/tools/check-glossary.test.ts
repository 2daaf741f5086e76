import { describe, expect, test } from "vitest";
import { checkWords } from "../../tools/check-glossary.ts";

const messages = (file: string, text: string) =>
  checkWords(file, text).map(({ line, message }) => `${line}: ${message}`);

describe("checkWords", () => {
  test("default: finds a word of the list in any text, with its line", () => {
    expect(messages("docs/X.md", "# Siege\n\nThe own key signs by hand.\n")).toMatchInlineSnapshot(`
      [
        "1: "Siege": write adversarial soak test",
        "3: "by hand": write manually, manual",
        "3: "The own": write its own, the prover's, or another owner by name",
      ]
    `);
  });

  test("behavior: finds identifiers, private ones too, and leaves text alone", () => {
    const source = '/** What they say. */\nclass A {\n  #said = "look";\n  tell() {}\n}\n';
    expect(messages("prover/x.ts", source)).toMatchInlineSnapshot(`
      [
        "3: identifier #said: write log, emit, answer, or what it holds",
        "4: identifier tell: write log, emit, answer, or what it holds",
      ]
    `);
  });

  test("behavior: sybil tickets, not faults", () => {
    expect(messages("a.ts", "// plants a fault; faults to plant; plant faults\n")).toEqual([]);
    expect(messages("a.ts", "// a plant that stalls\n")).toHaveLength(1);
    expect(messages("A.sol", "/// planted tickets\n")).toHaveLength(1);
  });

  test("behavior: lanes of packed words are SIMD lanes", () => {
    expect(messages("A.sol", "// SIMD lanes of 32 bits, 25 Keccak lanes of 64 bits, the lane PROOF")).toEqual(
      [],
    );
    expect(messages("A.sol", "// eight lanes of 32 bits")).toHaveLength(1);
  });

  test("behavior: there is none is English, what is none is not", () => {
    expect(messages("a.md", "If there is none, or it is none of these.")).toEqual([]);
    expect(messages("a.md", "A verdict that is none.")).toHaveLength(1);
    expect(messages("a.py", "# the own key\nif x is None: pass")).toHaveLength(1);
  });

  test("behavior: leaves alone what is generated", () => {
    expect(messages("verifier-contracts/generated/A.sol", "// siege")).toEqual([]);
  });
});
