import { describe, expect, it } from "vitest";
import { gasTablePage, renderGasTable, withGasTable } from "../../bench/agent-gas.ts";

describe("renderGasTable", () => {
  it("default", () => {
    expect(renderGasTable({ "b, second": "1234567", "a, first": "21000" })).toBe(
      "| operation | gas |\n|---|---|\n| a, first | 21,000 |\n| b, second | 1,234,567 |",
    );
  });
});

describe("withGasTable", () => {
  it("error: a page without a place for it", () => {
    expect(() => withGasTable("nothing", "table")).toThrow("docs/AGENTS.md has no lines");
  });
});

describe("gasTablePage", () => {
  // shows: E0-23
  it("behavior: the page shows the present snapshot", () => {
    const { expected, present } = gasTablePage();
    expect(present).toBe(expected);
  });
});
