/** Figures of README's section "For a cent", and of the first lines of docs/PROMISES.md: those that `npm run bench --
 *  promises` prints, as docs/BENCHMARKS.md has them. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const README = readFileSync("README.md", "utf8");
const SECTION = README.split("\n## ").find((part) => part.startsWith("For a cent")) ?? "";
const PROMISES = readFileSync("docs/PROMISES.md", "utf8").split("\n## ")[0] as string;
const BENCH =
  readFileSync("docs/BENCHMARKS.md", "utf8")
    .split("\n## ")
    .find((part) => part.startsWith("Gas of promises")) ?? "";

const numberIn = (text = ""): number => Number(text.replaceAll(",", ""));
/** Cells of the table's row that begins so. */
const row = (start: string): string[] =>
  BENCH.split("\n")
    .find((line) => line.startsWith(`| ${start} |`))
    ?.split("|")
    .map((cell) => cell.trim()) ?? [];
const gasIn = (text: string): number[] =>
  [...text.matchAll(/([\d,]*\d) gas/g)].map(([, figure]) => numberIn(figure));
const rounded = (value: number, digits: number): number => Number(value.toPrecision(digits));

describe("figures of promises", () => {
  /** At one gwei a unit of gas. */
  const single = numberIn(row("40 gas a byte, 1 gwei | sentiment, 1,024")[4]);
  const leaf = numberIn(row("sentiment, 1,024")[7]);

  test("default: they are the bench's, rounded to two digits", () => {
    expect([single, leaf].every((gas) => gas > 0)).toBe(true);
    expect(gasIn(SECTION)).toEqual([rounded(single, 2), rounded(leaf, 2)]);
    expect(gasIn(PROMISES)).toEqual([rounded(single, 2)]);
  });
});
