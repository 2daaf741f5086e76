import { describe, expect, it } from "vitest";
import { applied, instrument, type Mutant, mutantAt, withoutPure } from "../../tools/mutation/mutants.ts";
import { findPlaces } from "../../tools/mutation/statements.ts";

const SOLIDITY = `contract C {
    uint256 public x = 1; // a < b
    function f(uint256 a) external pure returns (uint256) {
        if (a < 2) revert Low(a);
        uint256 b = a + 1;
        (uint256 c, ) = g("if (a < b)");
        for (uint256 i = 0; i < b; ++i) {
            c += i;
        }
        assembly { c := add(c, 1) }
        return c;
    }
}
`;

const ASSEMBLY = `contract A {
    function f(uint256 a) internal pure returns (uint256 b) {
        assembly ("memory-safe") {
            function twice(x) -> y { y := shl(1, x) }
            let unset
            for { let i := 0 } lt(i, a) { i := add(i, 0x20) } {
                if iszero(i) { continue }
                switch gt(a, 3)
                case 0 { mstore(0, i) }
                default { b := twice(b) }
            }
        }
    }
}
`;

const TYPESCRIPT = `export const LIMIT = 3;
export function f({ a, b }: Pair): number {
  if (a === b) return 1; // a < b
  const c = a - b;
  for (const x of list) if (x > c) return x;
  return c;
}
`;

const CLASS = `export const twice = ({ a }: Pair): bigint => 2n * BigInt(a + 1);
const max = (a: number, b: number): number =>
  a > b ? a : b;
class Wallet {
  #left = 3 + 4;
  pay({ gas }: Cost, price: bigint): bigint | undefined {
    if (gas < 1n) return undefined;
    const index = (): void => {
      this.#left -= gas;
    };
    return gas;
  }
}
`;

const textOf = (text: string, language: "solidity" | "typescript"): string[] =>
  findPlaces(text, language).map(({ kind, start, end }) => `${kind}: ${text.slice(start, end).trim()}`);

describe("applied", () => {
  it("default: the source with each of its mutants alone", () => {
    for (const [file, text] of [
      ["C.sol", SOLIDITY],
      ["f.ts", TYPESCRIPT],
    ] as const) {
      const { mutants } = instrument(file, text, 1);
      const faulty = mutants.map((mutant) => applied(mutant, text));
      expect(new Set([text, ...faulty]).size).toBe(mutants.length + 1);
      for (const one of faulty) expect(one.split("\n")).toHaveLength(text.split("\n").length);
    }
    const [first] = instrument("C.sol", SOLIDITY, 1).mutants;
    expect(applied(first as Mutant, SOLIDITY)).toBe(SOLIDITY.replace("if (a < 2)", "if (a <= 2)"));
  });

  it("error: a mutant of another text", () => {
    const mutant = { id: 0, file: "C.sol", line: 4, name: "a < 2 → a > 2" };
    expect(() => applied(mutant, SOLIDITY)).toThrow("C.sol has no mutant a < 2 → a > 2 in line 4.");
  });
});

describe("findPlaces", () => {
  it("default: Solidity's conditions, values and statements, also of assembly, without comments and strings", () => {
    expect(textOf(SOLIDITY, "solidity")).toEqual([
      "condition: a < 2",
      "statement: revert Low(a);",
      "value: a + 1",
      "condition: i < b",
      "statement: c += i;",
      "assignment: c := add(c, 1)",
      "statement: return c;",
    ]);
  });

  it("default: TypeScript's", () => {
    expect(textOf(TYPESCRIPT, "typescript")).toEqual([
      "condition: a === b",
      "statement: return 1;",
      "value: a - b",
      "condition: x > c",
      "statement: return x;",
      "statement: return c;",
    ]);
  });
});

describe("assemblyPlaces", () => {
  it("default: what is assigned, called and tested, in blocks, loops and functions", () => {
    expect(textOf(ASSEMBLY, "solidity")).toEqual([
      "assignment: y := shl(1, x)",
      "assignment: let i := 0",
      "test: lt(i, a)",
      "assignment: i := add(i, 0x20)",
      "test: iszero(i)",
      "call: continue",
      "call: mstore(0, i)",
      "assignment: b := twice(b)",
    ]);
  });
});

describe("assemblyGuarded", () => {
  it("default: each mutant under its id, what stands there under any other", () => {
    const { text } = instrument("A.sol", ASSEMBLY, 7);
    const [, loop = ""] = /(\n.*\bfor [^\n]*)/.exec(text) ?? [];
    expect(loop.replace(/\s+/g, " ")).toBe(
      " for { let i if eq(coinbase(), 10) { i := 1 } if gt(sub(coinbase(), 10), 0) { i := 0 } } " +
        "xor(lt(i, a), mul(eq(coinbase(), 11), xor(lt(i, a), iszero(gt(i, a))))) { " +
        "if eq(coinbase(), 12) { i := sub(i, 0x20) } if eq(coinbase(), 13) { i := add(i, 0x21) } " +
        "if eq(coinbase(), 14) { } if gt(sub(coinbase(), 12), 2) { i := add(i, 0x20) } } {",
    );
  });
});

describe("findPlaces, of classes", () => {
  it("default: methods, arrows without a block, and blocks inside statements", () => {
    expect(textOf(CLASS, "typescript")).toEqual([
      "value: 2n * BigInt(a + 1)",
      "value: a > b ? a : b",
      "condition: gas < 1n",
      "statement: return undefined;",
      "statement: this.#left -= gas;",
      "statement: return gas;",
    ]);
  });
});

const names = (mutants: readonly Mutant[]): string[] => mutants.map(({ line, name }) => `${line} ${name}`);

describe("instrument", () => {
  it("default: flips, numbers one higher, statements left out", () => {
    expect(names(instrument("C.sol", SOLIDITY, 1).mutants)).toEqual([
      "4 a < 2 → a <= 2",
      "4 a < 2 → a < 3",
      "4 revert Low(a); → (left out)",
      "5 a + 1 → a - 1",
      "5 a + 1 → a + 2",
      "7 i < b → i <= b",
      "8 c += i; → (left out)",
      "10 c := add(c, 1) → c := sub(c, 1)",
      "10 c := add(c, 1) → c := add(c, 2)",
      "10 c := add(c, 1) → (left out)",
      "11 return c; → (left out)",
    ]);
  });

  it("behavior: whole numbers of any size are one higher", () => {
    expect(names(instrument("p.ts", CLASS, 1).mutants).slice(0, 3)).toEqual([
      "1 2n * BigInt(a + 1) → 2n * BigInt(a - 1)",
      "1 2n * BigInt(a + 1) → 3n * BigInt(a + 1)",
      "1 2n * BigInt(a + 1) → 2n * BigInt(a + 2)",
    ]);
  });

  it("behavior: the text does what it did unless a mutant is asked for, and then what that one does", () => {
    const { text, mutants } = instrument("f.ts", TYPESCRIPT.replaceAll(": Pair): number", ")"), 1);
    const run = (id: number, pair: { a: number; b: number }): number => {
      const body = text.replaceAll("export ", "").replaceAll("process.env.MUTANT", "mutant");
      return new Function("mutant", "list", `${body}; return f(${JSON.stringify(pair)});`)(
        String(id),
        [3, 5],
      );
    };
    const inputs = [
      { a: 2, b: 2 },
      { a: 5, b: 2 },
      { a: 9, b: 2 },
      { a: 7, b: 2 },
    ];
    const results = (id: number): string => inputs.map((pair) => run(id, pair)).join();
    expect(results(0)).toBe("1,5,7,5");
    const alike = mutants.filter(({ id }) => results(id) === results(0));
    expect(names(alike)).toEqual([]);
  });

  it("behavior: lines stay, and an id is found where a compiler points", () => {
    const { text, mutants } = instrument("C.sol", SOLIDITY, 10);
    const lines = text.split("\n");
    expect(lines).toHaveLength(SOLIDITY.split("\n").length);
    for (const { id, line } of mutants) {
      const inSolidity = (lines[line - 1] as string).indexOf(`uint160(${id}))`);
      const at = inSolidity < 0 ? (lines[line - 1] as string).indexOf(`coinbase(), ${id})`) : inSolidity;
      expect(mutantAt(lines[line - 1] as string, at + 20)).toBe(id);
    }
    expect(mutantAt("uint256 x;", 5)).toBeUndefined();
  });

  it("args: isLeftOut", () => {
    const { mutants } = instrument(
      "C.sol",
      SOLIDITY,
      1,
      (line, name) => line === 4 || name.endsWith("a - 1"),
    );
    expect(names(mutants).slice(0, 1)).toEqual(["5 a + 1 → a + 2"]);
  });
});

describe("withoutPure", () => {
  it("default: functions only, not comments", () => {
    expect(withoutPure("function f() pure {} // pure")).toBe("function f() view {} // pure");
  });
});
