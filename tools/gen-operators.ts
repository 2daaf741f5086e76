/** Writes the table of operators into docs/EXACT.md from what import reads. With --check, only compares. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { OperatorRow } from "../inference/onnx/lower/operator-row.ts";
import { OPERATOR_ROWS } from "../inference/onnx/lower/operator-table.ts";
import { projectRoot } from "./foundry.ts";

const path = join(projectRoot, "docs", "EXACT.md");
const BEGIN = "<!-- operators: written by npm run gen. DO NOT EDIT. -->";
const END = "<!-- operators: end -->";

const code = (text: string): string => text.replaceAll("com.microsoft.", "com.microsoft ");

/** Circuits have no binary32. */
function lanes({ opcodes, alwaysFloat }: OperatorRow): string {
  if (alwaysFloat) return "bond, execution";
  return opcodes.includes("float") ? "bond, execution; proof if no FLOAT comes of it" : "all";
}

function line(row: OperatorRow): string {
  const { operators, reads, opcodes, limits, exactness } = row;
  const names = Object.keys(operators).sort().map(code).join(", ");
  const steps = opcodes.length === 0 ? "–" : opcodes.map((opcode) => opcode.toUpperCase()).join(", ");
  const cells = [names, reads, limits === "" ? "–" : limits, steps, exactness, lanes(row)];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The table in Markdown. */
export function renderOperators(rows: readonly OperatorRow[]): string {
  const head = "| operator | reads | limits | opcodes | | lanes |\n|---|---|---|---|---|---|";
  return [head, ...rows.map(line)].join("\n");
}

/** `text` with the table between its marks. @throws Error if the marks are not there */
export function withOperators(text: string, table: string): string {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/EXACT.md has no lines ${BEGIN} and ${END}`);
  return `${text.slice(0, from)}${BEGIN}\n\n${table}\n\n${text.slice(to)}`;
}

function main(checkOnly: boolean): void {
  const text = readFileSync(path, "utf8");
  const fresh = withOperators(text, renderOperators(OPERATOR_ROWS));
  if (!checkOnly) writeFileSync(path, fresh);
  else if (fresh !== text) {
    console.error("docs/EXACT.md has a stale table of operators: run npm run gen and commit it");
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes("--check"));
