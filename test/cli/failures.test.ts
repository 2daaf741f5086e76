/** docs/FAILURES.md against the tests, the alert rules, the metrics, the codes and the options that it names. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { METRIC_FAMILIES } from "../support/metric-families.ts";

const read = (path: string): string => readFileSync(join(projectRoot, path), "utf8");
const text = read("docs/FAILURES.md");
const rules = read("docs/monitoring/alerts.yml");
const ASPECTS = ["Seen by", "The daemon", "You", "What can be lost", "Played by"];

/** Headings of the third level before the walk-throughs, with their texts. */
const entries = (text.split("\n## Walk-throughs", 1)[0] as string)
  .split(/^### /m)
  .slice(1)
  .map((entry) => {
    const [title = "", ...lines] = entry.split("\n");
    return { title, body: lines.join("\n") };
  });

/** As GitHub makes an address of a heading. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, "")
    .replaceAll(" ", "-");

const sources = ["base", "challenger", "cli", "explorer", "protocol", "prover"].flatMap((folder) =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => read(join(folder, file))),
);
const isInSources = (word: string): boolean => sources.some((source) => source.includes(word));

describe("docs/FAILURES.md", () => {
  test.each(entries)("behavior: $title: says all five things, in order", ({ body }) => {
    const aspects = [...body.matchAll(/^- \*\*(.+?):\*\* \S/gm)].map(([, aspect]) => aspect);
    expect(aspects).toEqual(ASPECTS);
  });

  test.each(entries)("behavior: $title: is played by tests that exist", ({ body }) => {
    const played = body.slice(body.indexOf("**Played by:**"));
    const named = [...played.matchAll(/`(test\/[\w/.-]+)`: "([^"]+)"/g)];
    expect(named.length).toBeGreaterThan(0);
    for (const [, path = "", title = ""] of named) {
      expect([path, existsSync(join(projectRoot, path))]).toEqual([path, true]);
      expect([path, title, read(path).includes(title)]).toEqual([path, title, true]);
    }
  });

  test("behavior: each alert rule names an entry, which names the rule", () => {
    const blocks = rules.split(/^ +- alert: /m).slice(1);
    const named = blocks.map((block) => ({
      alert: block.split("\n", 1)[0] as string,
      anchor: /failure: docs\/FAILURES\.md#(\S+)$/m.exec(block)?.[1],
    }));
    for (const { alert, anchor } of named) {
      const entry = entries.find(({ title }) => anchorOf(title) === anchor);
      expect([alert, entry?.body.includes(`\`${alert}\``)]).toEqual([alert, true]);
    }
    const alerts = new Set(named.map(({ alert }) => alert));
    expect([...text.matchAll(/`(Assay[A-Z]\w+)`/g)].filter(([, name = ""]) => !alerts.has(name))).toEqual([]);
  });

  test("behavior: metrics, codes, options and messages are those of the code", () => {
    const metrics = new Set(Object.values(METRIC_FAMILIES).flatMap((all) => all.map(({ name }) => name)));
    const found = (pattern: RegExp): string[] =>
      [...text.matchAll(pattern)].map(([, word]) => word as string);
    expect(found(/`(assay_\w+)`/g).filter((name) => !metrics.has(name))).toEqual([]);
    expect(found(/`([A-Z]+_[A-Z_]+)`/g).filter((code) => !isInSources(`"${code}"`))).toEqual([]);
    const camel = (option: string): string =>
      option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const options = found(/`--([a-z][\w-]*)/g);
    expect(options.filter((one) => !isInSources(`--${one}`) && !isInSources(camel(one)))).toEqual([]);
    for (const entry of entries) {
      const [seen = ""] = entry.body.split("\n- **The daemon");
      const messages = [...seen.matchAll(/"([^"]+)"/g)].map(([, message]) => message as string);
      expect(messages.filter((message) => !isInSources(message))).toEqual([]);
    }
  });
});
