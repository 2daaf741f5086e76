import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ATTENTION_RESULTS } from "../../challenger/attention.ts";
import { CLOCKS } from "../../challenger/clocks.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { METRIC_FAMILIES } from "../support/metric-families.ts";

const folder = join(projectRoot, "docs/monitoring");
const families = new Map(
  Object.values(METRIC_FAMILIES).flatMap((all) => all.map((one) => [one.name, one.kind])),
);

interface Panel {
  readonly title: string;
  readonly id: number;
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(readFileSync(join(folder, "grafana.json"), "utf8")) as {
  panels: readonly Panel[];
};
const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const rules = readFileSync(join(folder, "alerts.yml"), "utf8");
const alerts = [...rules.matchAll(/^ +expr: (.*)$/gm)].map(([, expr]) => expr as string);

/** Names in an expression that no metric has, with the suffixes of a histogram where it is one. */
function unknownIn(expression: string): string[] {
  const names = expression.match(/\bassay_\w+/g) ?? [];
  return names.filter((name) => {
    const kind = families.get(name);
    if (kind !== undefined) return kind === "histogram";
    return families.get(name.replace(/_(bucket|sum|count)$/, "")) !== "histogram";
  });
}

describe("unknownIn", () => {
  test("behavior: it sees names that are wrong", () => {
    const wrong =
      "rate(assay_rpc_down[5m]) + assay_http_request_seconds + assay_rpc_up_bucket + assay_rpc_up";
    expect(unknownIn(wrong)).toEqual(["assay_rpc_down", "assay_http_request_seconds", "assay_rpc_up_bucket"]);
  });
});

describe("docs/monitoring", () => {
  test.each([
    ["grafana.json", shown],
    ["alerts.yml", alerts],
  ])("behavior: %s asks for metrics that are there", (_file, expressions) => {
    expect(expressions.length).toBeGreaterThan(15);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
  });

  test("behavior: the dashboard shows every metric, and no panel twice", () => {
    const missing = [...families.keys()].filter((name) => !shown.some((expr) => expr.includes(name)));
    expect(missing).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  test("behavior: counters are asked for their rise, and gauges are not", () => {
    for (const expression of [...shown, ...alerts]) {
      for (const [, name] of expression.matchAll(/(?:rate|increase)\((assay_\w+)/g))
        expect([name, name?.endsWith("_total") || name?.endsWith("_bucket")]).toEqual([name, true]);
      const asked = expression.match(/assay_\w+_total/g) ?? [];
      expect(asked.length).toBe(expression.match(/(?:rate|increase)\(assay_\w+_total/g)?.length ?? 0);
    }
  });

  test("behavior: every rule says how bad it is and what it means", () => {
    const blocks = rules.split(/^ +- alert: /m).slice(1);
    expect(blocks).toHaveLength(alerts.length);
    for (const block of blocks) expect(block).toMatch(/severity: (critical|warning)[\s\S]*summary: ".+"/);
    expect(new Set(blocks.map((block) => block.split("\n", 1)[0])).size).toBe(blocks.length);
  });

  test("behavior: label values are those of the code", () => {
    const values = (label: string) =>
      alerts.flatMap((expr) =>
        [...expr.matchAll(new RegExp(`\\b${label}[!=]=?~?"([^"]+)"`, "g"))].flatMap(([, found]) =>
          (found as string).split("|"),
        ),
      );
    expect(CLOCKS).toEqual(expect.arrayContaining(values("clock")));
    expect(ATTENTION_RESULTS).toEqual(expect.arrayContaining(values("result")));
    expect(["right", "wrong", "could-not-check"]).toEqual(expect.arrayContaining(values("verdict")));
    expect([values("clock").length, values("result").length, values("verdict").length]).toEqual([2, 1, 2]);
  });
});
