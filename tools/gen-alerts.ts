/** Writes docs/monitoring/alerts.yml, the alerts as rules of Prometheus. With --check, only compares. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ALERT_RULES, type AlertRule } from "../protocol/service/metrics/alert-rules.ts";
import { projectRoot } from "./foundry.ts";

const path = join(projectRoot, "docs/monitoring/alerts.yml");

/** The rule as an expression of Prometheus. */
function expressionOf(rule: AlertRule): string {
  const { metric, where = {}, except = {}, rise, group, of, is, limit } = rule;
  const isPlain = (pattern: string) => /^[\w-]+$/.test(pattern);
  const matchers = [
    ...Object.entries(where).map(
      ([label, pattern]) => `${label}${isPlain(pattern) ? "=" : "=~"}"${pattern}"`,
    ),
    ...Object.entries(except).map(([label, value]) => `${label}!="${value}"`),
  ];
  const series = matchers.length === 0 ? metric : `${metric}{${matchers.join(",")}}`;
  const risen =
    rise === undefined
      ? series
      : `${rise.perSecond === true ? "rate" : "increase"}(${series}[${durationOf(rise.seconds)}])`;
  const grouped =
    group === undefined ? risen : `${group.take} by (${["instance", ...group.by].join(", ")}) (${risen})`;
  const compared = of === "size" ? `abs(${grouped})` : of === "negative" ? `-${grouped}` : grouped;
  return `${compared} ${is} ${limit >= 1e6 ? limit.toExponential().replace("e+", "e") : limit}`;
}

const durationOf = (seconds: number): string =>
  seconds % 3_600 === 0 ? `${seconds / 3_600}h` : `${seconds / 60}m`;

const VALUES = { seconds: "{{ $value | humanizeDuration }}", wei: "{{ $value }} wei" } as const;

/** A text with Prometheus's own places for values. */
const templateOf = (text: string, { unit }: AlertRule): string =>
  text.replace(/\{(\w+)\}/g, (_all, name: string) =>
    name === "value" ? (unit === undefined ? "{{ $value }}" : VALUES[unit]) : `{{ $labels.${name} }}`,
  );

function render(rule: AlertRule): string[] {
  const { name, severity, forSeconds, summary, next, command, failure } = rule;
  const description = command === undefined ? next : `${next} ${command}`;
  return [
    `      - alert: ${name}`,
    `        expr: ${expressionOf(rule)}`,
    ...(forSeconds === undefined ? [] : [`        for: ${durationOf(forSeconds)}`]),
    `        labels: { severity: ${severity} }`,
    "        annotations:",
    `          summary: ${JSON.stringify(templateOf(summary, rule))}`,
    `          description: ${JSON.stringify(templateOf(description, rule))}`,
    `          failure: docs/FAILURES.md#${failure}`,
  ];
}

const text = [
  "# Alert rules for Prometheus, written by `npm run gen`: DO NOT EDIT. Set the durations to the answer time T of your",
  "# deployment; these are for T of an hour or more. `failure` names the entry that says what to do. `promtool check",
  "# rules alerts.yml` checks the syntax, test/cli/monitoring.test.ts and test/cli/failures.test.ts the names.",
  "groups:",
  "  - name: assay",
  "    rules:",
  ...ALERT_RULES.flatMap(render),
  "",
].join("\n");

if (process.argv.includes("--check")) {
  if (readFileSync(path, "utf8") !== text) {
    console.error("docs/monitoring/alerts.yml is stale: run `npm run gen`.");
    process.exitCode = 1;
  }
} else writeFileSync(path, text);
