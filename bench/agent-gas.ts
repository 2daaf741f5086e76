/** The gas table of docs/AGENTS.md, from the snapshot that `npm run snapshot` writes. Run it to renew the table. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "../tools/foundry.ts";

const BEGIN = "<!-- gas table: tsx bench/agent-gas.ts -->";
const END = "<!-- end of gas table -->";
const SNAPSHOT = join(projectRoot, "bench", "gas-snapshots", "agents.json");
const PAGE = join(projectRoot, "docs", "AGENTS.md");

/** @param snapshot gas by operation, as forge writes it */
export function renderGasTable(snapshot: Readonly<Record<string, string>>): string {
  const rows = Object.entries(snapshot)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([operation, gas]) => `| ${operation} | ${Number(gas).toLocaleString("en-US")} |`);
  return ["| operation | gas |", "|---|---|", ...rows].join("\n");
}

/** The page with its table renewed.
 *  @throws Error when the page has no place for the table */
export function withGasTable(page: string, table: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`docs/AGENTS.md has no lines ${BEGIN} and ${END}`);
  return `${page.slice(0, from)}${BEGIN}\n\n${table}\n\n${page.slice(to)}`;
}

/** The page as it should be now, and as it is. */
export function gasTablePage(): { readonly expected: string; readonly present: string } {
  const present = readFileSync(PAGE, "utf8");
  const snapshot = JSON.parse(readFileSync(SNAPSHOT, "utf8")) as Record<string, string>;
  return { expected: withGasTable(present, renderGasTable(snapshot)), present };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, gasTablePage().expected);
