import { describe, expect, it } from "vitest";
import { findGaps, type Mark, type Row, readMarks, renderSpecs } from "../../tools/gen-specs.ts";

const rows: readonly Row[] = [
  { id: "E1-001", title: "agents nest" },
  { id: "E0-07", title: "older structs", see: ["E1-001"] },
  { id: "D-40", title: "images", why: "They are not at hand." },
];
const mark = (...ids: string[]): Mark => ({ ids, file: "test/a.test.ts", test: "nests" });

// Put together here so that the generator finds no mark in this file.
const shows = (ids: string) => `// ${"shows"}: ${ids}`;

describe("readMarks", () => {
  it("default", () => {
    const text = [
      `    ${shows("E1-027, D-46")}`,
      "    function testFuzz_run_anyInput_succeeds(uint256 seed) public {",
      `  ${shows("X-01")}`,
      '  it("behavior: says no", async () => {',
    ].join("\n");
    expect(readMarks("test/a.t.sol", text)).toEqual([
      { ids: ["E1-027", "D-46"], file: "test/a.t.sol", test: "testFuzz_run_anyInput_succeeds" },
      { ids: ["X-01"], file: "test/a.t.sol", test: "behavior: says no" },
    ]);
  });

  it("behavior: several comments above one test, tables between, a title on the next line", () => {
    const text = [
      shows("S-01"),
      "// why",
      shows("S-02"),
      "const x = 1;",
      "it.each(list.map((a) => a))(",
      '  "both",',
    ];
    expect(readMarks("test/a.test.ts", text.join("\n"))).toEqual([
      { ids: ["S-01", "S-02"], file: "test/a.test.ts", test: "both" },
    ]);
    const table = [shows("S-03"), "it.each([", "  [1, 2],", '] as const)("of a table", () => {'];
    expect(readMarks("test/a.test.ts", table.join("\n"))).toEqual([
      { ids: ["S-03"], file: "test/a.test.ts", test: "of a table" },
    ]);
  });

  it("error: a mark above no test", () => {
    expect(() => readMarks("test/a.test.ts", `${shows("S-01")}\nconst x = 1;`)).toThrow(
      'test/a.test.ts: "shows: S-01" stands above no test',
    );
  });
});

describe("findGaps", () => {
  it("default", () => {
    expect(findGaps(rows, [mark("E1-001")])).toEqual([]);
  });

  it("behavior: a row without a test, and a mark without a row", () => {
    expect(findGaps(rows, [mark("E1-999")])).toEqual([
      "test/a.test.ts: nests: no row E1-999 in docs/specs.json",
      "E1-001 is shown by no test",
      "E0-07 is shown by no test",
    ]);
  });
});

describe("renderSpecs", () => {
  it("default", () => {
    const text = renderSpecs(rows, [mark("E1-001")]);
    expect(text).toContain("| E1-001 | agents nest | `a.test.ts` nests |");
    expect(text).toContain("| E0-07 | older structs | `a.test.ts` nests |");
    expect(text).toContain("| D-40 | images | They are not at hand. |");
    expect(renderSpecs(rows, [])).toContain("| E1-001 | agents nest | **nothing yet** |");
  });
});
