import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../cli/output.ts";
import { AUDIT_RULES } from "../../protocol/chain/audit/rules.ts";
import { PRESETS } from "../../protocol/chain/presets.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { METRIC_FAMILIES } from "../support/metric-families.ts";

const page = readFileSync(join(projectRoot, "docs/OPERATIONS.md"), "utf8");

describe("docs/OPERATIONS.md", () => {
  test("behavior: every exit code has its row", () => {
    const rows = [...page.matchAll(/^\| (\d+) \|/gm)].map((row) => Number(row[1]));
    expect(rows).toEqual(Object.values(EXIT).sort((a, b) => a - b));
  });

  test("behavior: the table of chains is the code's", () => {
    const rows = PRESETS.map((preset) => {
      const { aliases, name, id, confirmations, answerSeconds, dataFee = "as found", explorer = "" } = preset;
      const names = aliases.map((alias) => `\`${alias}\``).join(", ");
      const cells = [
        ...[names, name, id, confirmations, answerSeconds.toLocaleString("en-US"), dataFee],
        ...[preset.transactionGas.toLocaleString("en-US"), preset.blockSeconds, explorer],
      ];
      return `| ${cells.join(" | ")} |`.replaceAll("|  |", "| |");
    });
    expect(page).toContain(`|\n${rows.join("\n")}\n\n`);
  });

  test("behavior: the table of the audit's rules is the code's", () => {
    const rows = Object.entries(AUDIT_RULES).map(([rule, meaning]) => [
      rule,
      meaning.replace(/ \([\d, ]+\)$/, ""),
    ]);
    const section = page.slice(page.indexOf("## Audit"), page.indexOf("## Alerts"));
    const table = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, rule, meaning]) => [
      rule,
      meaning,
    ]);
    expect(table).toEqual(rows);
  });

  test("behavior: the table of metrics is the code's", () => {
    const rows = Object.entries(METRIC_FAMILIES).flatMap(([of, families]) =>
      families.map(({ name, help }) => `| \`${name}\` | ${of} | ${help} |`),
    );
    const table = page.split("\n").filter((line) => line.startsWith("| `assay_"));
    expect(table).toEqual(rows);
  });
});
