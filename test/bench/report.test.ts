import { describe, expect, it } from "vitest";
import { describeMachine, mergePage, type PartResult, renderPage, renderText } from "../../bench/report.ts";

const result = (title: string, value: string): PartResult => ({
  part: { name: title, title, method: `How ${title} is measured.`, run: async () => [] },
  figures: [{ name: "figure", value }],
  rows: [],
});

describe("mergePage", () => {
  const page = renderPage([result("One", "1"), result("Two", "2"), result("Three", "3")], "run");

  it("default: replaces the section of a part and nothing else", () => {
    const expected = renderPage([result("One", "1"), result("Two", "22"), result("Three", "3")], "run");
    expect(mergePage(page, [result("Two", "22")])).toBe(expected);
  });

  it("behavior: a part that the page lacks comes last", () => {
    const merged = mergePage(page, [result("Four", "4")]);
    expect(merged.startsWith(page.trimEnd())).toBe(true);
    expect(merged.slice(page.trimEnd().length)).toContain("\n## Four\n");
  });

  it("behavior: a section from another machine than the page's names its own", () => {
    const other = page.replace(/^- CPU: .*$/m, "- CPU: another one, 64 cores");
    const merged = mergePage(other, [result("Two", "22")]);
    const [, one, two] = merged.split(/^(?=## )/m);
    expect(one).not.toContain("machine");
    expect(two).toContain(`Measured on another machine. ${describeMachine().join("; ")}.`);
    expect(merged).toContain("- CPU: another one, 64 cores");
  });

  it("behavior: the same results give the same page", () => {
    expect(mergePage(page, [result("Three", "3"), result("One", "1")])).toBe(page);
  });
});

describe("renderPage", () => {
  const lanes = { columns: ["", "execution", "bond"], rows: [["gas", "208,976", "170,155"]] };

  it("default: a table stands below the figures, with its own columns", () => {
    const page = renderPage([{ ...result("One", "1"), tables: [lanes] }], "run");
    expect(page).toContain(
      "| figure | 1 |  |  |\n\n|  | execution | bond |\n|---|---|---|\n| gas | 208,976 | 170,155 |\n",
    );
  });

  it("args: a part of tables alone has no empty table of figures", () => {
    const page = renderPage([{ ...result("One", "1"), figures: [], tables: [lanes] }], "run");
    expect(page).not.toContain("| figure |");
  });
});

describe("renderText", () => {
  it("default: columns are aligned", () => {
    const table = { columns: ["", "execution", "bond"], rows: [["gas", "1", "2"]] };
    expect(renderText({ ...result("One", "1"), figures: [], tables: [table] })).toBe(
      "One\n\n       execution  bond\n  gas  1          2",
    );
  });
});
