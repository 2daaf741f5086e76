import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { figuresOf } from "../../../explorer/app/pages/model/evaluation-figures.ts";
import { projectRoot } from "../../../tools/foundry.ts";

const evaluationOf = (name: string) =>
  JSON.parse(readFileSync(join(projectRoot, "models", name, "eval.json"), "utf8")) as Record<string, unknown>;
const drawn = (name: string) => figuresOf(evaluationOf(name)).map(({ kind, title }) => `${kind}: ${title}`);

describe("figuresOf", () => {
  it("default: draws what each shipped model scores", () => {
    expect(drawn("sentiment")).toEqual([
      "confusion: What it mistakes for what",
      "bars: Accuracy beside others",
    ]);
    expect(drawn("forecast-vix")).toEqual([
      "coverage: Do its quantiles hold?",
      "bars: Pinball skill over unconditional quantiles",
    ]);
    expect(drawn("forecast-hourly")).toEqual([
      "bars: Mean squared error (less is better)",
      "bars: Mean absolute error (less is better)",
    ]);
    for (const name of ["credit", "credit-trees", "policy"]) expect(drawn(name)).toHaveLength(1);
  });

  it("behavior: every count of the confusion matrix has its place", () => {
    const [figure] = figuresOf(evaluationOf("sentiment"));
    if (figure?.kind !== "confusion") throw new Error("The first figure is no confusion matrix.");
    expect(figure.cells.reduce((sum, { count }) => sum + count, 0)).toBe(2_350);
    expect(figure.cells.find(({ is, answered }) => is === "bearish" && answered === "neutral")?.count).toBe(
      76,
    );
  });

  it("args: files of strangers give no figure instead of an error", () => {
    for (const strange of [
      {},
      { classes: "a", shipped: 3 },
      { classes: ["a"], shipped: { valid: { confusion: [["x"]], accuracy: "much" } } },
      { classes: ["a", "b"], shipped: { valid: { confusion: [[1, 2]] } } },
      { test: { coverage: [1, 2], skill: "NaN" }, baselines: [1], metrics: null },
      JSON.parse('{"__proto__": {"test": {"skill": 1}}}') as Record<string, unknown>,
    ]) {
      expect(figuresOf(strange)).toEqual([]);
    }
  });
});
